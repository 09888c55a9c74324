#include "report/log_calibration.h"

#include <cstdlib>
#include <iterator>
#include <string>

namespace vramgauge {
namespace {

using enum CheckQuantity;

struct Corrected {
  CheckQuantity quantity;
  TermId term;
};
/// What a log states of one term; the sum of two is moved by what is less well known of them.
constexpr Corrected kStated[] = {{weights, TermId::weights},
                                 {activations, TermId::activations},
                                 {runtime, TermId::runtime},
                                 {weights_and_runtime, TermId::runtime}};

bool differs(const CheckRow& row) { return std::abs(row.residual()) > row.tolerance; }

/// The compute buffer of the only GPU; nothing when there are several, which differ.
const CheckRow* only_compute_buffer(const LogCheck& check) {
  const CheckRow* found = nullptr;
  for (const CheckRow& row : check.rows) {
    if (row.quantity != compute_buffer || row.where == "host") continue;
    if (found != nullptr) return nullptr;
    found = &row;
  }
  return found;
}

/// True when the log states any term.
bool add_stated(const LogCheck& check, Calibration& correction) {
  bool is_stated = false;
  for (const Corrected& each : kStated) {
    const CheckRow* row = check.find(each.quantity);
    const bool is_sum = each.quantity == weights_and_runtime;
    if (row == nullptr || !row->predicted || !row->where.empty() || (is_sum && is_stated)) continue;
    is_stated = true;
    if (!row->predicted->is_exact && differs(*row)) correction.add(each.term, row->residual());
  }
  const CheckRow* buffer = only_compute_buffer(check);
  if (buffer == nullptr || !buffer->predicted) return is_stated;
  if (differs(*buffer)) correction.add(TermId::activations, buffer->residual());
  return true;
}

/// By how much the pool is larger than predicted, where that is more than the log leaves open.
std::optional<int64_t> pool_residual(const LogCheck& check) {
  const CheckRow* pool = check.find(kv_pool);
  if (pool != nullptr && pool->predicted)
    return differs(*pool) ? std::optional<int64_t>(pool->residual()) : std::nullopt;
  const CheckRow* tokens = check.find(kv_tokens);
  const CheckPrediction* each = check.prediction(kv_bytes_per_token);
  if (tokens == nullptr || !tokens->predicted || each == nullptr || !differs(*tokens))
    return std::nullopt;
  const double bytes =
      static_cast<double>(tokens->residual()) * static_cast<double>(each->predicted.value);
  constexpr double kMost = 1e15;
  if (bytes > kMost || bytes < -kMost) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::optional<TermId> least_known_term(const LogCheck& check) {
  std::optional<TermId> found;
  int64_t widest = -1;
  for (const Corrected& each : kStated) {
    const CheckPrediction* term = check.prediction(each.quantity);
    if (term == nullptr || term->predicted.is_exact || each.quantity == weights_and_runtime)
      continue;
    const int64_t width = term->predicted.high - term->predicted.low;
    if (width <= widest) continue;
    widest = width;
    found = each.term;
  }
  return found;
}

}  // namespace

Calibration log_correction(const LogCheck& check, const Calibration& in_force) {
  Calibration correction = in_force;
  if (add_stated(check, correction)) return correction;
  // Of llama.cpp's buffers the sizes follow from the model; its context's does not.
  if (const CheckRow* all = check.find(device_total); all != nullptr && all->predicted) {
    if (differs(*all)) correction.add(TermId::runtime, all->residual());
    return correction;
  }
  const auto residual = pool_residual(check);
  const auto term = least_known_term(check);
  if (residual && term) correction.add(*term, -*residual);
  return correction;
}

json::Value log_calibration(const EngineLog& log, const Calibration& correction) {
  if (correction.is_empty()) return json::Value::null();
  json::Value terms = json::Value::array();
  for (const TermId id : {TermId::weights, TermId::activations, TermId::runtime}) {
    const auto added = correction.added_bytes(id);
    if (!added) continue;
    json::Value term = json::Value::object();
    term.set("term", term_name(id));
    term.set("add_bytes", json::Value::signed_integer(*added));
    terms.push(std::move(term));
  }
  json::Value patch = json::Value::object();
  patch.set("calibration", correction.text());
  json::Value out = json::Value::object();
  out.set("engine", log_engine_name(log.engine));
  out.set("engine_version", log.flag("version"));
  out.set("gpu", log.flag("gpu"));
  out.set("model", log.flag("model"));
  out.set("terms", std::move(terms));
  out.set("text", correction.text());
  out.set("scenario_patch", std::move(patch));
  return out;
}

}  // namespace vramgauge
