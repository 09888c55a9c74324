#include <algorithm>
#include <array>

#include "api/plan_methods.h"
#include "units/index.h"

namespace vramgauge::api {
namespace {

constexpr uint64_t kMaxPoints = 65'536;
/// One letter per state, in the order of VerdictState; the last stands for a refusal.
constexpr std::string_view kLetters = "ftn-";

/// A field and the scenario's values of it; an axis without a field has one point.
struct Axis {
  const Field* field = nullptr;
  std::vector<json::Value> values;

  uint64_t size() const { return field == nullptr ? 1 : values.size(); }
};

/// `steps` whole numbers from `from` to `to`, evenly spaced; equal neighbours are one.
std::vector<json::Value> spread(uint64_t from, uint64_t to, uint64_t steps) {
  std::vector<json::Value> values;
  for (uint64_t i = 0; i < steps; ++i) {
    const uint64_t past =
        scaled(CheckedU64(to - from), i, std::max<uint64_t>(1, steps - 1)).value_or(0);
    json::Value value = json::Value::integer(from + past);
    if (values.empty() || values.back().as_u64() != value.as_u64())
      values.push_back(std::move(value));
  }
  return values;
}

/// {"field", "values"} or {"field", "from", "to", "steps"}.
Axis read_axis(json::ObjectReader& request, std::string_view key) {
  Axis axis;
  const json::Value* given = request.object(key);
  if (given == nullptr) return axis;
  json::ObjectReader reader(*given, request.path_to(key), request.errors());
  const std::string name = reader.string("field").value_or("");
  axis.field = find_field(name);
  if (axis.field == nullptr) {
    reader.error(ErrorCode::scenario_unknown_key, "field", {{"key", name.substr(0, 80)}});
    return axis;
  }
  if (const json::Value::Array* values = reader.array("values")) {
    axis.values = *values;
  } else {
    const json::Range range{0, kMaxApiBytes};
    const uint64_t from = reader.u64("from", range).value_or(0);
    const uint64_t to = reader.u64("to", {from, kMaxApiBytes}).value_or(from);
    axis.values = spread(from, to, reader.u64("steps", {1, kMaxPoints}).value_or(1));
  }
  for (const std::string& unread : reader.unread_keys())
    reader.error(ErrorCode::api_unknown_key, unread, {{"key", unread}});
  Scenario trial;
  for (uint64_t i = 0; i < axis.values.size(); ++i)
    set_field_json(trial, *axis.field, axis.values[index_of(i)],
                   json::pointer_to(reader.path_to("values"), i), request.errors());
  return axis;
}

void set_axis(Scenario& scenario, const Axis& axis, uint64_t index) {
  Diagnostics ignored;
  if (axis.field != nullptr)
    set_field_json(scenario, *axis.field, axis.values[index_of(index)], "", ignored);
}

/// What an estimate has to do again when the field changes, from least to most: the workload, the
/// engine's settings, names that are looked up. The lesser is for the inner loop.
uint64_t cost_of(const Axis& axis) {
  if (axis.field == nullptr || axis.field->number == &Scenario::num_requests) return 0;
  return axis.field->number != nullptr ? 1 : 2;
}

std::vector<const Field*> fields_of(const Axis& x, const Axis& y) {
  std::vector<const Field*> fields;
  for (const Axis* axis : {&x, &y})
    if (axis->field != nullptr) fields.push_back(axis->field);
  return fields;
}

struct Points {
  std::string states;
  std::vector<uint64_t> needed;
  std::vector<uint64_t> usable;
  std::array<std::vector<uint64_t>, kNumTerms> terms;
};

/// Every point, x running fastest in the arrays.
Points evaluate(Probe& probe, const Scenario& base, const Axis& x, const Axis& y) {
  Points points;
  const uint64_t total = x.size() * y.size();
  points.states.assign(index_of(total), kLetters.back());
  for (std::vector<uint64_t>* list : {&points.needed, &points.usable, &points.terms[0],
                                      &points.terms[1], &points.terms[2], &points.terms[3]})
    list->assign(index_of(total), 0);
  const bool x_is_outer = cost_of(x) > cost_of(y);
  const Axis& outer = x_is_outer ? x : y;
  const Axis& inner = x_is_outer ? y : x;
  Scenario at = base;
  for (uint64_t i = 0; i < outer.size(); ++i) {
    set_axis(at, outer, i);
    for (uint64_t j = 0; j < inner.size(); ++j) {
      set_axis(at, inner, j);
      const Outcome outcome = probe.estimate(at);
      if (outcome.is_refused()) continue;
      const std::size_t point = index_of(x_is_outer ? j * x.size() + i : i * x.size() + j);
      points.states[point] = kLetters[static_cast<std::size_t>(outcome.state)];
      points.needed[point] = outcome.needed.count();
      points.usable[point] = outcome.usable.count();
      for (std::size_t term = 0; term < kNumTerms; ++term)
        points.terms[term][point] = outcome.terms[term].count();
    }
  }
  return points;
}

json::Value counts_json(const std::vector<uint64_t>& counts) {
  json::Value::Array items;
  items.reserve(counts.size());
  for (const uint64_t count : counts)
    items.push_back(json::Value::integer(count));
  return json::Value::array(std::move(items));
}

json::Value axis_json(const Axis& axis) {
  if (axis.field == nullptr) return json::Value::null();
  json::Value out = json::Value::object();
  out.set("field", axis.field->key);
  out.set("values", json::Value::array(axis.values));
  return out;
}

json::Value points_json(const Points& points, bool has_terms) {
  json::Value out = json::Value::object();
  out.set("states", points.states);
  out.set("needed_bytes", counts_json(points.needed));
  const bool is_one =
      std::equal(points.usable.begin() + 1, points.usable.end(), points.usable.begin());
  out.set("usable_bytes",
          counts_json(is_one ? std::vector<uint64_t>{points.usable.front()} : points.usable));
  if (!has_terms) return out;
  json::Value terms = json::Value::object();
  for (std::size_t i = 0; i < kNumTerms; ++i)
    terms.set(term_name(static_cast<TermId>(i)), counts_json(points.terms[i]));
  return std::move(out.set("terms", std::move(terms)));
}

}  // namespace

Answer sweep(const PlanContext& context, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const PlanRequest asked = read_plan_request(reader);
  const Axis x = read_axis(reader, "x");
  const Axis y = read_axis(reader, "y");
  const bool has_terms = reader.boolean("terms").value_or(false);
  const uint64_t total = x.size() * y.size();
  if (errors.empty() && (total == 0 || total > kMaxPoints)) {
    reader.error(ErrorCode::value_out_of_range, "x",
                 {{"key", "points"}, {"value", total}, {"min", uint64_t{1}}, {"max", kMaxPoints}});
  }
  if (!errors.empty()) return fail(std::move(errors));
  SessionProbe probe(context);
  const auto resolved = probe.resolve(asked.scenario);
  if (!resolved) return fail(resolved.error());
  Diagnostics warnings = (*resolved)->warnings;
  probe.vary(fields_of(x, y));
  json::Value out = points_json(evaluate(probe, asked.scenario, x, y), has_terms);
  out.set("x", axis_json(x));
  out.set("y", axis_json(y));
  return unknown_keys(reader, errors, {std::move(out), std::move(warnings)});
}

}  // namespace vramgauge::api
