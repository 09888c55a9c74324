// The methods of the planner, see core/api/README.md.
#pragma once

#include "api/plan_probe.h"

namespace vramgauge::api {

/// {"scenario", "accept"} -> levers by their effect, and the cheapest sets that make it fit.
Answer advise(const PlanContext& context, const json::Value& request);

/// {"scenario", "over", "query", "vendor", "min_bits", "max_bits", "verdict", "sort", "descending",
/// "limit"} -> rows of GPUs, models, formats or all three.
Answer search(const PlanContext& context, const json::Value& request);

/// {"scenario", "for", "accept"} -> the largest or best value that fits, and the one beside it.
Answer solve(const PlanContext& context, const json::Value& request);

/// {"scenario", "x", "y", "terms"} -> state and bytes over one or two fields, as arrays.
Answer sweep(const PlanContext& context, const json::Value& request);

/// {"scenario", "prompt_tokens"} -> the roofline: tokens per second at best.
Answer speed(const PlanContext& context, const json::Value& request);

/// {"scenario", "requests_per_s", "duration_s" or "live_requests", "prompt_tokens" and
/// "output_tokens" as {"mean", "p99"}, or "lengths"} -> live tokens and replicas.
Answer traffic(const PlanContext& context, const json::Value& request);

}  // namespace vramgauge::api
