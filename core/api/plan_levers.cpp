#include "api/plan_levers.h"

#include <algorithm>

#include "api/plan_formats.h"
#include "plan/short_sort.h"
#include "plan/solve.h"
#include "plan/splits.h"
#include "specs/model_traits.h"

namespace vramgauge::api {
namespace {

constexpr uint64_t kFewestChunkTokens = 64;

/// In the order of two widely read articles: the cache's type, the context, the chunk, then the
/// rest, weights and hardware last.
enum Order : uint64_t {
  cache_8_bit,
  cache_4_bit,
  shorter_context,
  smaller_chunk,
  fewer_sequences,
  fewer_requests,
  larger_share,
  no_graphs,
  no_towers,
  experts_out,
  layers_out,
  narrower_weights,
  more_gpus,
  other_gpu,
};

constexpr LeverFacts kLevers[] = {
    {"cache_8_bit", "cache_type_k", "cache_precision",
     "docs.vllm.ai, Quantized KV Cache; docs.sglang.io, Quantized KV Cache", 1},
    {"cache_4_bit", "cache_type_k", "cache_precision_4_bit",
     "llama.cpp pull request 21038: even 8 bits show in KL divergence", 3},
    {"context", "context_tokens", "shorter_context", "", 3},
    {"prefill_chunk", "", "slower_prefill", "docs.vllm.ai, Optimization and Tuning", 1},
    {"max_num_seqs", "max_num_seqs", "fewer_at_once", "", 1},
    {"requests", "num_requests", "fewer_requests", "", 3},
    {"memory_share", "memory_frac", "less_headroom",
     "vLLM issue 57475: out of memory while graphs are captured", 2},
    {"no_graphs", "enforce_eager", "slower_decode", "docs.vllm.ai, Conserving Memory", 2},
    {"text_only", "language_model_only", "no_images", "", 2},
    {"experts_on_host", "cpu_moe_layers", "slower_offload", "llama.cpp, docs of --n-cpu-moe", 4},
    {"layers_on_host", "gpu_layers", "slower_offload", "llama.cpp, docs of --gpu-layers", 5},
    {"weight_format", "weight_format", "weight_precision",
     "llama.cpp, tools/quantize/README.md: perplexity by type", 4},
    {"more_gpus", "gpu_count", "more_hardware", "", 6},
    {"other_gpu", "gpu", "more_hardware", "", 6},
};

struct FlagRow {
  std::string_view engine;
  std::string_view field;
  std::string_view flag;
};

constexpr FlagRow kFlags[] = {
    {"vllm", "cache_type_k", "--kv-cache-dtype"},
    {"vllm", "context_tokens", "--max-model-len"},
    {"vllm", "max_num_batched_tokens", "--max-num-batched-tokens"},
    {"vllm", "max_num_seqs", "--max-num-seqs"},
    {"vllm", "memory_frac", "--gpu-memory-utilization"},
    {"vllm", "enforce_eager", "--enforce-eager"},
    {"vllm", "language_model_only", "--language-model-only"},
    {"vllm", "gpu_count", "--tensor-parallel-size"},
    {"vllm", "weight_format", "--model"},
    {"sglang", "cache_type_k", "--kv-cache-dtype"},
    {"sglang", "context_tokens", "--context-length"},
    {"sglang", "max_num_batched_tokens", "--chunked-prefill-size"},
    {"sglang", "max_num_seqs", "--max-running-requests"},
    {"sglang", "memory_frac", "--mem-fraction-static"},
    {"sglang", "gpu_count", "--tensor-parallel-size"},
    {"sglang", "weight_format", "--model-path"},
    {"tensorrt_llm", "cache_type_k", "kv_cache_config.dtype"},
    {"tensorrt_llm", "context_tokens", "--max_seq_len"},
    {"tensorrt_llm", "max_num_batched_tokens", "--max_num_tokens"},
    {"tensorrt_llm", "max_num_seqs", "--max_batch_size"},
    {"tensorrt_llm", "memory_frac", "--kv_cache_free_gpu_memory_fraction"},
    {"tensorrt_llm", "gpu_count", "--tp_size"},
    {"llama_cpp", "cache_type_k", "--cache-type-k, --cache-type-v"},
    {"llama_cpp", "context_tokens", "--ctx-size"},
    {"llama_cpp", "ubatch_tokens", "--ubatch-size"},
    {"llama_cpp", "num_requests", "--parallel"},
    {"llama_cpp", "gpu_layers", "--gpu-layers"},
    {"llama_cpp", "cpu_moe_layers", "--n-cpu-moe"},
    {"llama_cpp", "weight_format", "--model"},
};

/// Builds the offers of one scenario.
class Offers {
 public:
  Offers(const PlanContext& context, Probe& probe, const Resolved& resolved, Accept accept)
      : context_(context),
        probe_(probe),
        scenario_(resolved.scenario),
        spec_(resolved.model->spec),
        usable_(without_held(resolved.hardware).usable),
        accept_(accept) {}

  std::vector<LeverOffer> make() {
    is_short_ = !holds(probe_.estimate(scenario_), accept_);
    add_cache_types();
    add_solved(shorter_context, &Scenario::context_tokens, {1, scenario_.context_tokens, true});
    add_chunks();
    add_sequences();
    add_solved(fewer_requests, &Scenario::num_requests, {1, scenario_.num_requests, true});
    add_switches();
    add_offload();
    add_formats();
    add_hardware();
    return std::move(offers_);
  }

 private:
  bool reads(std::string_view field) const { return engine_reads(scenario_.engine, field); }

  void add(Order order, std::vector<Scenario> settings) {
    if (!settings.empty()) offers_.push_back({order, lever_facts(order).cost, std::move(settings)});
  }

  template <typename Value>
  void add_value(Order order, Value Scenario::*field, Value value) {
    if (!reads(lever_facts(order).field) || scenario_.*field == value) return;
    add(order, {with(field, std::move(value))});
  }

  template <typename Value>
  Scenario with(Value Scenario::*field, Value value) const {
    Scenario at = scenario_;
    at.*field = std::move(value);
    return at;
  }

  void add_cache_types() {
    const std::vector<Choice> choices = cache_type_choices(context_);
    add_cache_type(cache_8_bit, choices, 8);
    add_cache_type(cache_4_bit, choices, 4);
  }

  /// The first type of so many bits, scales apart, that the engine has.
  void add_cache_type(Order order, const std::vector<Choice>& choices, uint64_t bits) {
    const auto present = std::find_if(choices.begin(), choices.end(), [this](const Choice& each) {
      return each.id == scenario_.cache_type_k;
    });
    for (const Choice& choice : choices) {
      const bool is_narrower = present == choices.end() || choice.micro_bits < present->micro_bits;
      if (!is_narrower || choice.micro_bits / Decimal::kScale != bits) continue;
      Scenario at = scenario_;
      at.cache_type_k = at.cache_type_v = choice.id;
      if (!probe_.estimate(at).is_refused()) return add(order, {std::move(at)});
    }
  }

  /// The value that just fits, or half of what is asked where none does.
  void add_solved(Order order, uint64_t Scenario::*field, Span span) {
    if (!is_short_ || scenario_.*field <= span.min) return;
    const Found found = solve_field(probe_, scenario_, field, span, accept_);
    add(order, {with(field, found.value.value_or(scenario_.*field / 2))});
  }

  void add_chunks() {
    for (const auto& [key, fallback] : {std::pair<std::string_view, uint64_t>{"prefill_tokens", 0},
                                        {"ubatch_tokens", 0},
                                        {"max_num_batched_tokens", 16384}}) {
      const Field* field = find_field(key);
      if (field == nullptr || !reads(key)) continue;
      const uint64_t present = scenario_.*field->number;
      const uint64_t start = std::max({present, fallback, prefill_of(key)});
      std::vector<Scenario> settings;
      for (uint64_t tokens = uint64_t{1} << 14; tokens >= kFewestChunkTokens; tokens /= 2)
        if (tokens < start) settings.push_back(with(field->number, tokens));
      add(smaller_chunk, std::move(settings));
    }
  }

  uint64_t prefill_of(std::string_view key) const {
    return key == "prefill_tokens" && scenario_.prefill_tokens == 0 ? scenario_.context_tokens : 0;
  }

  void add_sequences() {
    if (!reads("max_num_seqs")) return;
    std::vector<Scenario> settings;
    for (uint64_t most = 512; most >= std::max<uint64_t>(1, scenario_.num_requests); most /= 2)
      if (scenario_.max_num_seqs == 0 || most < scenario_.max_num_seqs)
        settings.push_back(with(&Scenario::max_num_seqs, most));
    add(fewer_sequences, std::move(settings));
  }

  void add_switches() {
    add_value(larger_share, &Scenario::memory_frac, Decimal::from_micros(950'000));
    add_value(no_graphs, &Scenario::enforce_eager, std::string("on"));
    if (!spec_.towers.empty())
      add_value(no_towers, &Scenario::language_model_only, std::string("on"));
  }

  void add_offload() {
    if (!reads("gpu_layers")) return;
    const uint64_t layers = spec_.layers.size();
    if (has_experts(spec_)) add_layers(experts_out, &Scenario::cpu_moe_layers, {0, layers, false});
    add_layers(layers_out, &Scenario::gpu_layers, {0, layers, true});
  }

  void add_layers(Order order, uint64_t Scenario::*field, Span span) {
    if (!is_short_) return;
    const Found found = solve_field(probe_, scenario_, field, span, accept_);
    const uint64_t strongest = span.wants_largest ? span.min : span.max;
    add(order, {with(field, found.value.value_or(strongest))});
  }

  void add_formats() {
    const std::vector<Choice> choices = format_choices(context_, scenario_);
    const auto resolved = resolve(context_.catalogue, context_.models, scenario_, kScenarioPath);
    const uint64_t present = resolved ? micro_bits_of(*resolved->model, *resolved->weights) : 0;
    std::vector<Scenario> settings;
    for (const Choice& choice : choices)
      if (choice.micro_bits < present)
        settings.push_back(with(&Scenario::weight_format, choice.id));
    add(narrower_weights, std::move(settings));
  }

  void add_hardware() {
    if (!is_short_) return;
    constexpr uint64_t kMostGpus = 64;
    std::vector<Scenario> more;
    for (uint64_t gpus = scenario_.gpu_count * 2; gpus <= kMostGpus; gpus *= 2) {
      more.push_back(with(&Scenario::gpu_count, gpus));
      // All that stages and replicas leave.
      more.back().tensor_ranks = 0;
    }
    add(more_gpus, std::move(more));
    add(other_gpu, larger_cards());
  }

  /// Cards of the same maker with more memory, the smallest first.
  std::vector<Scenario> larger_cards() const {
    const CatalogueList& list = context_.catalogue.gpus();
    const CatalogueEntry* own = list.find(scenario_.gpu);
    std::vector<std::pair<uint64_t, std::string>> cards;
    for (const CatalogueEntry& entry : list.entries()) {
      const auto hardware = parse_hardware(entry.facts);
      if (own == nullptr || !hardware || without_held(*hardware).usable <= usable_) continue;
      const json::Value* maker = entry.facts.find("vendor");
      const json::Value* own_maker = own->facts.find("vendor");
      if (maker != nullptr && own_maker != nullptr &&
          json::write(*maker) == json::write(*own_maker))
        cards.emplace_back(hardware->usable.count(), entry.id);
    }
    short_sort(cards, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Scenario> settings;
    for (auto& card : cards)
      settings.push_back(with(&Scenario::gpu, std::move(card.second)));
    return settings;
  }

  const PlanContext& context_;
  Probe& probe_;
  const Scenario scenario_;
  const ModelSpec& spec_;
  const Bytes usable_;
  Accept accept_;
  bool is_short_ = false;
  std::vector<LeverOffer> offers_;
};

}  // namespace

const LeverFacts& lever_facts(uint64_t order) { return kLevers[order]; }

std::string_view engine_flag(std::string_view engine, std::string_view field) {
  for (const FlagRow& row : kFlags)
    if (row.engine == engine && row.field == field) return row.flag;
  return "";
}

bool engine_reads(std::string_view engine, std::string_view key) {
  const Field* field = find_field(key);
  if (field == nullptr) return false;
  return field->engines.empty() || is_word_of(field->engines, engine);
}

std::vector<LeverOffer> lever_offers(const PlanContext& context, Probe& probe,
                                     const Resolved& resolved, Accept accept) {
  return Offers(context, probe, resolved, accept).make();
}

}  // namespace vramgauge::api
