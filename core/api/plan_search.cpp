#include <algorithm>
#include <memory>

#include "api/plan_formats.h"
#include "api/plan_methods.h"
#include "api/plan_search_rows.h"
#include "plan/format_sizes.h"
#include "units/index.h"

namespace vramgauge::api {
namespace {

/// Estimates that a search may ask of an engine whose answer depends on the card.
constexpr uint64_t kMaxEstimates = 20'000;
constexpr uint64_t kMaxLimit = 1000;
constexpr std::string_view kOver = "gpus,models,formats,all";
/// In the order of RowSort.
constexpr std::string_view kSorts = "margin,needed,usable,bits,parameters,requests";
constexpr std::string_view kVerdicts = "any,tight,fits";

struct SearchRequest {
  PlanRequest plan;
  std::string over;
  RowOrder order;
  std::string query;
  std::string vendor;

  bool is_over(std::string_view axis) const { return over == axis || over == "all"; }
};

RowSort sort_of(std::string_view word) {
  std::string_view rest = kSorts;
  uint64_t index = 0;
  while (rest.substr(0, rest.find(',')) != word) {
    rest.remove_prefix(std::min(rest.find(',') + 1, rest.size()));
    ++index;
  }
  return static_cast<RowSort>(index);
}

using Entries = std::vector<const CatalogueEntry*>;

/// Everything of a list, or what a query finds in it.
Entries entries_of(const CatalogueList& list, const std::string& query) {
  if (!query.empty()) return list.search(query);
  Entries entries;
  for (const CatalogueEntry& entry : list.entries())
    entries.push_back(&entry);
  return entries;
}

class Searcher {
 public:
  Searcher(const PlanContext& context, SearchRequest& request, SessionProbe& probe)
      : context_(context), request_(request), probe_(probe), best_(request.order) {}

  /// Scenarios for every combination of the axes.
  Result<void> search_by_estimates() {
    const Entries models = axis("models", context_.catalogue.models());
    const Entries gpus = axis("gpus", context_.catalogue.gpus());
    const Entries formats = axis("formats", context_.catalogue.formats());
    const uint64_t total = uint64_t{models.size()} * gpus.size() * formats.size();
    if (total > kMaxEstimates) {
      return fail(
          ErrorCode::value_out_of_range, "/query",
          {{"key", "points"}, {"value", total}, {"min", uint64_t{1}}, {"max", kMaxEstimates}});
    }
    Scenario at = request_.plan.scenario;
    for (const CatalogueEntry* model : models) {
      if (model != nullptr) set_model(at, *model);
      for (const CatalogueEntry* format : formats) {
        if (format != nullptr && !is_kept(*format)) continue;
        if (format != nullptr) at.weight_format = format->id;
        for (const CatalogueEntry* gpu : gpus) {
          if (gpu != nullptr) at.gpu = gpu->id;
          add_estimate(at, {model, gpu, format});
        }
      }
    }
    return {};
  }

  /// The same for the rule of thumb, whose needs do not depend on the card: one estimate per model
  /// and format.
  void search_by_needs() {
    read_formats();
    read_cards();
    Scenario at = request_.plan.scenario;
    at.weight_format = formats_.empty() ? at.weight_format : "ideal-16bit";
    for (const CatalogueEntry* model : axis("models", context_.catalogue.models())) {
      set_model(at, *model);
      const auto resolved = probe_.resolve(at);
      if (resolved) {
        add_model(*model, **resolved);
      } else {
        best_.refuse();
      }
    }
  }

  json::Value result() {
    json::Value rows = json::Value::array();
    best_.each([&](const SearchRow& row) { rows.push(row_json(row)); });
    json::Value out = json::Value::object();
    best_.write_counts(out);
    out.set("rows", std::move(rows));
    return out;
  }

 private:
  struct Card {
    const CatalogueEntry* entry;
    Bytes usable;
  };

  /// A null entry stands for what the scenario says.
  Entries axis(std::string_view name, const CatalogueList& list) const {
    if (!request_.is_over(name)) return {nullptr};
    const bool is_queried = request_.over == name || name == "models";
    Entries entries = entries_of(list, is_queried ? request_.query : "");
    if (name != "gpus" || request_.vendor.empty()) return entries;
    const auto is_other = [this](const CatalogueEntry* entry) {
      const json::Value* vendor = entry->facts.find("vendor");
      return vendor == nullptr || vendor->as_string() == nullptr ||
             normal_form(*vendor->as_string()) != normal_form(request_.vendor);
    };
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_other), entries.end());
    return entries;
  }

  static void set_model(Scenario& scenario, const CatalogueEntry& entry) {
    scenario.model = entry.id;
    scenario.model_config.clear();
  }

  /// Files are made in the format, and not only every tensor in one type.
  static bool is_kept(const CatalogueEntry& entry) {
    const auto format = parse_weight_format(entry.facts);
    return format && is_of_files(*format);
  }

  bool is_wide_enough(uint64_t micro_bits) const {
    return micro_bits >= request_.order.min_micro_bits &&
           micro_bits <= request_.order.max_micro_bits;
  }

  void add_estimate(const Scenario& at, SearchRow row) {
    const bool needs_answers = request_.order.sort == RowSort::requests;
    const Outcome outcome = needs_answers ? probe_.with_answers(at) : probe_.estimate(at);
    if (outcome.is_refused()) return best_.refuse();
    const auto resolved = probe_.resolve(at);
    if (!resolved) return;
    row.micro_bits = micro_bits_of(*(*resolved)->model, *(*resolved)->weights);
    if (!is_wide_enough(row.micro_bits)) return;
    row.parameters = (*resolved)->model->parameters.total.value_or(0);
    row.max_requests = outcome.answers.max_requests.value_or(0);
    row.state = outcome.state;
    row.needed = outcome.needed;
    row.usable = outcome.usable;
    best_.add(row);
  }

  void read_formats() {
    for (const CatalogueEntry* entry : axis("formats", context_.catalogue.formats())) {
      auto format = parse_weight_format(entry->facts);
      if (!format) continue;
      entries_.push_back(entry);
      formats_.push_back(std::move(*format));
    }
    const Diagnostics ignored = resolve_part_formats(formats_);
  }

  /// Sizes of a model in the formats, which other searches over them find again.
  const std::vector<std::optional<FormatSize>>& sizes_of(const LoadedModel& model) const {
    std::vector<std::optional<FormatSize>>& known = model.sizes_by_format;
    if (!known.empty()) return known;
    FormatSizes sizes(model.tensors, model.spec);
    known.reserve(formats_.size());
    for (const WeightFormat& format : formats_)
      known.push_back(is_of_files(format) ? sizes.in(format) : std::nullopt);
    return known;
  }

  void read_cards() {
    const Scenario& scenario = request_.plan.scenario;
    for (const CatalogueEntry* entry : axis("gpus", context_.catalogue.gpus())) {
      auto hardware = parse_hardware(entry->facts);
      if (!hardware) continue;
      if (!scenario.held_gib.is_zero()) {
        hardware->held = bytes_of(CheckedU64(uint64_t{1} << 30) * scenario.held_gib)
                             .value_or(Bytes(kMaxApiBytes));
      }
      const Bytes usable = without_held(*hardware).usable;
      cards_.push_back(
          {entry,
           bytes_of(checked(usable) * scenario.gpu_memory_utilization_frac).value_or(Bytes())});
    }
  }

  void add_model(const CatalogueEntry& entry, const Resolved& base) {
    const std::vector<std::optional<FormatSize>>& sizes = sizes_of(*base.model);
    FormattedWeights weights;
    Resolved resolved = base;
    resolved.weights = &weights;
    std::unique_ptr<Kept> kept;
    const EngineFace& engine = *context_.parts.engine(kGeneric);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::optional<FormatSize>& size = sizes[i];
      if (!size) continue;
      weights.total = size->total;
      weights.basis = size->basis;
      SearchRow row{&entry, nullptr, entries_[i]};
      row.micro_bits = micro_bits_of(*base.model, weights);
      if (!is_wide_enough(row.micro_bits)) continue;
      row.parameters = base.model->parameters.total.value_or(0);
      const auto breakdown = engine.breakdown(resolved, kScenarioPath, kept);
      if (breakdown) add_cards(row, breakdown->devices.front().total);
    }
  }

  void add_cards(SearchRow row, const Total& total) {
    row.needed = total.bytes;
    for (const Card& card : cards_) {
      row.gpu = card.entry;
      row.usable = card.usable;
      row.state = total.high <= card.usable    ? VerdictState::fits
                  : total.bytes <= card.usable ? VerdictState::tight
                                               : VerdictState::does_not_fit;
      best_.add(row);
    }
  }

  json::Value row_json(const SearchRow& row) {
    Scenario at = request_.plan.scenario;
    json::Value out = json::Value::object();
    if (row.model != nullptr) {
      set_model(at, *row.model);
      out.set("model", row.model->id);
    }
    if (row.gpu != nullptr) out.set("gpu", at.gpu = row.gpu->id);
    if (row.format != nullptr) out.set("weight_format", at.weight_format = row.format->id);
    const auto answers = probe_.with_answers(at).answers;
    out.set("state", verdict_name(row.state));
    out.set("needed_bytes", row.needed);
    out.set("usable_bytes", row.usable);
    out.set("margin_bytes", json::Value::signed_integer(row.margin()));
    out.set("bits", json::Value::decimal(Decimal::from_micros(row.micro_bits)));
    out.set("parameters", row.parameters);
    out.set("max_requests", answers.max_requests ? json::Value::integer(*answers.max_requests)
                                                 : json::Value::null());
    return out;
  }

  const PlanContext& context_;
  SearchRequest& request_;
  SessionProbe& probe_;
  BestRows best_;
  Entries entries_;
  std::vector<WeightFormat> formats_;
  std::vector<Card> cards_;
};

uint64_t read_micro_bits(json::ObjectReader& reader, std::string_view key, uint64_t fallback) {
  const auto value = reader.real(key);
  const auto decimal = value ? Decimal::from_double(*value) : std::nullopt;
  return decimal ? decimal->micros() : fallback;
}

SearchRequest read_request(json::ObjectReader& reader) {
  SearchRequest out;
  out.plan = read_plan_request(reader);
  out.over = read_word(reader, "over", kOver);
  const std::string sort = read_word(reader, "sort", kSorts);
  if (reader.errors().empty()) out.order.sort = sort_of(sort);
  out.order.is_descending = reader.boolean("descending").value_or(false);
  const std::string verdict = read_word(reader, "verdict", kVerdicts);
  if (verdict != "any")
    out.order.worst = verdict == "fits" ? VerdictState::fits : VerdictState::tight;
  out.order.min_micro_bits = read_micro_bits(reader, "min_bits", 0);
  out.order.max_micro_bits = read_micro_bits(reader, "max_bits", UINT64_MAX);
  out.order.limit = reader.u64("limit", {1, kMaxLimit}).value_or(out.order.limit);
  out.query = reader.string("query").value_or("");
  out.vendor = reader.string("vendor").value_or("");
  return out;
}

}  // namespace

Answer search(const PlanContext& context, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  SearchRequest asked = read_request(reader);
  if (!errors.empty()) return fail(std::move(errors));
  SessionProbe probe(context);
  const auto resolved = probe.resolve(asked.plan.scenario);
  if (!resolved) return fail(resolved.error());
  Diagnostics warnings = (*resolved)->warnings;
  const bool is_by_needs = asked.over == "all" && (*resolved)->scenario.engine == kGeneric;
  Searcher searcher(context, asked, probe);
  if (is_by_needs) {
    searcher.search_by_needs();
  } else if (const auto searched = searcher.search_by_estimates(); !searched) {
    return fail(searched.error());
  }
  return unknown_keys(reader, errors, {searcher.result(), std::move(warnings)});
}

}  // namespace vramgauge::api
