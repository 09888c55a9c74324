#include "accuracy_logs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accuracy_log_others.h"
#include "accuracy_vllm_figures.h"
#include "engine/terms.h"

namespace vramgauge::tools {
namespace {

/// How figures are named here, in `comparable` and in `measured`.
struct LogFigure {
  std::string_view quantity;
  std::string_view comparable;
  std::string_view measured;
};
constexpr LogFigure kWeights = {"weights_gib", "weights_gib", "weights_gib"};
constexpr LogFigure kTokenBytes = {"kv_bytes_per_token", "kv_bytes_per_token",
                                   "kv_bytes_per_token_measured"};
constexpr LogFigure kNeeded = {"kv_needed_gib", "kv_needed_gib", "kv_needed_gib"};
constexpr LogFigure kLongest = {"est_max_len", "kv_needed_gib", "est_max_len"};
constexpr LogFigure kHybridTokens = {"hybrid_tokens", "hybrid_lines", "kv_tokens"};
constexpr LogFigure kHybridConcurrency = {"hybrid_concurrency", "hybrid_lines", "max_concurrency"};
constexpr LogFigure kHybridBlock = {"hybrid_block_tokens", "hybrid_lines", "attention_block_size"};
constexpr LogFigure kPool = {"kv_gib", "kv_cache_gib", "kv_cache_gib"};
constexpr LogFigure kTokens = {"tokens", "kv_cache_gib", "kv_tokens"};
constexpr LogFigure kBlocks = {"blocks", "kv_cache_gib", "gpu_blocks"};
constexpr LogFigure kConcurrency = {"concurrency", "kv_cache_gib", "max_concurrency"};
constexpr LogFigure kActivation = {"activation_gib", "activation_peak_gib", "activation_peak_gib"};
constexpr LogFigure kNonTorch = {"non_torch_gib", "activation_peak_gib", "non_torch_gib"};
constexpr LogFigure kGraphs = {"graphs_gib", "kv_cache_gib", "cuda_graph_gib"};
constexpr LogFigure kGraphsEstimated = {"graphs_estimated_gib", "kv_cache_gib",
                                        "cuda_graph_est_gib"};

/// One row under way.
class LogScore {
 public:
  LogScore(const EngineLog& row, TruthContext& context, Scores& scores)
      : row_(row), context_(context), scores_(scores) {}

  void score() {
    const auto model = model_of_log(row_, context_);
    const bool has_list = row_.compares_anything();
    if (!model && !has_list) return scores_.leave_out(row_.name(), model.error());
    if (row_.is_vllm()) return score_vllm();
    score_other();
  }

 private:
  void score_vllm() {
    compare_weights();
    compare_planner();
    const auto figures = vllm_row_figures();
    if (!figures) {
      for (const LogFigure& figure : {kPool, kTokens, kBlocks, kConcurrency, kActivation, kNonTorch,
                                      kGraphs, kGraphsEstimated})
        cannot(figure, figures.error());
      return compare_outcome(because(figures.error()));
    }
    compare(kPool, figures->pool);
    compare(kTokens, figures->tokens);
    compare(kBlocks, figures->blocks);
    compare(kConcurrency, figures->concurrency);
    compare(kActivation, figures->activation);
    compare(kNonTorch, figures->non_torch);
    compare(kGraphs, figures->graphs);
    compare(kGraphsEstimated, figures->graphs);
    compare_outcome(figures->verdict);
  }

  /// What depends on the card needs one.
  Predictable<VllmFigures> vllm_row_figures() {
    const auto card = card_of_log(row_, context_.presets);
    const bool is_cpu = row_.text("gpu") == "CPU";
    if (!card && !is_cpu) return because(card.error());
    if (card) card_gib_ = card->total_gib;
    const auto inputs = vllm_inputs_of_log(row_, context_);
    if (!inputs) return because(inputs.error());
    const auto profile = vllm_profile_of_log(row_, context_);
    if (!profile) return because(profile.error());
    return vllm_figures(*inputs, *profile);
  }

  void compare_weights() {
    if (!row_.measured(kWeights.measured)) return;
    const auto weights = weights_of_log(row_, context_);
    if (!weights) return cannot(kWeights, weights.error());
    compare(kWeights, with_band(*weights));
  }

  /// As engines give it to weights, by how well their format is known.
  PredictedReal with_band(Bytes weights) {
    const auto settings = vllm_settings_of_log(row_, context_);
    const Basis basis = settings ? settings->weights_basis : Basis::modelled;
    const auto total = total_of(weights_with_band(weights, basis), basis);
    if (!total) return without_band(gib(weights));
    return {gib(total->bytes), gib(total->low), gib(total->high)};
  }

  /// What the planner makes of the pool that the row states.
  void compare_planner() {
    const auto planned =
        vllm_pool_of_log(row_, row_.measured("kv_cache_gib").value_or(0), context_);
    if (!planned) {
      for (const LogFigure& figure :
           {kTokenBytes, kNeeded, kLongest, kHybridTokens, kHybridConcurrency, kHybridBlock})
        cannot(figure, planned.error());
      return;
    }
    const VllmKvPool& pool = planned->pool;
    compare(kTokenBytes, whole(vllm_bytes_per_token(planned->plan, 0).count()));
    compare(kNeeded, without_band(gib(pool.needed)));
    compare(kLongest, whole(pool.max_len));
    compare(kHybridTokens, whole(pool.token_line));
    compare(kHybridConcurrency,
            without_band(static_cast<double>(pool.concurrency_hundredths()) / 100));
    compare(kHybridBlock, whole(planned->plan.raised_block_tokens));
  }

  void score_other() {
    compare_weights();
    const auto figures = row_.is_sglang()   ? sglang_figures(row_, context_)
                         : row_.is_trtllm() ? trtllm_figures(row_, context_)
                                            : llama_cpp_figures(row_, context_);
    if (!figures) {
      for (const LogFigure& figure : {kTokenBytes, kPool, kTokens})
        cannot(figure, figures.error());
      return compare_outcome(because(figures.error()));
    }
    if (const auto card = card_of_log(row_, context_.presets)) card_gib_ = card->total_gib;
    if (figures->bytes_per_token > 0) {
      compare(kTokenBytes, without_band(figures->bytes_per_token));
      compare(kPool, figures->pool);
      compare(kTokens, without_band(figures->pool_tokens));
    }
    compare_outcome(figures->verdict);
  }

  static PredictedReal whole(uint64_t count) { return without_band(static_cast<double>(count)); }

  bool counts(const LogFigure& figure) const { return row_.compares(figure.comparable); }

  /// Lines of hybrids and cache per token are compared only where they mean that.
  bool is_given(const LogFigure& figure) const {
    if (figure.quantity == kLongest.quantity && !row_.measured("kv_cache_gib")) return false;
    const bool is_own_line =
        figure.comparable == "hybrid_lines" || figure.comparable == "kv_bytes_per_token";
    return row_.measured(figure.measured) && (counts(figure) || !is_own_line);
  }

  std::string quantity(const LogFigure& figure) const {
    return std::string(figure.quantity) + (counts(figure) ? "" : " (others)");
  }

  void cannot(const LogFigure& figure, const std::string& reason) {
    if (!is_given(figure)) return;
    scores_.add_unpredicted(quantity(figure), row_.name(), reason);
    const FigureRule rule = rule_of(figure, 0);
    scores_.describe(quantity(figure), rule.unit, rule.text);
  }

  void compare(const LogFigure& figure, const PredictedReal& value) {
    if (!is_given(figure)) return;
    const double truth = *row_.measured(figure.measured);
    const FigureRule rule = rule_of(figure, truth);
    const bool is_count = rule.unit == "tokens" || rule.unit == "blocks" || rule.unit == "B";
    const double width_of = figure.quantity == kPool.quantity ? card_gib_ : 0;
    scores_.add_real(quantity(figure), row_.name(), truth, value,
                     {is_count ? 0.5 : kPrintedHundredths, rule.allowed, width_of});
    scores_.describe(quantity(figure), rule.unit, rule.text);
  }

  /// Half a percent, and what the pool's two decimals leave open.
  double half_percent(double truth) const {
    const double pool = std::fabs(row_.measured("kv_cache_gib").value_or(1e9));
    return truth * (0.005 + (pool > 0 ? kPrintedHundredths / pool : 0));
  }

  FigureRule rule_of(const LogFigure& figure, double truth) const {
    const std::string half = "0.5 % and the pool's rounding";
    if (figure.quantity == kTokenBytes.quantity) return {"B", half_percent(truth), half};
    if (figure.quantity == kHybridTokens.quantity) return {"tokens", half_percent(truth), half};
    if (figure.quantity == kHybridConcurrency.quantity) return {"x", half_percent(truth), half};
    if (figure.quantity == kHybridBlock.quantity) return {"tokens", 0, "equal"};
    if (figure.quantity == kNeeded.quantity)
      return {"GiB", (counts(figure) ? 0.01 : 0.15) * truth, counts(figure) ? "1 %" : "15 %"};
    if (figure.quantity == kLongest.quantity) return {"tokens", 0.01 * truth, "1 %"};
    return figure_rule(std::string(figure.quantity), truth, std::max(card_gib_, 1e-9));
  }

  void compare_outcome(const Predictable<VerdictState>& verdict) {
    if (!row_.compares("outcome")) return;
    if (!verdict) return scores_.add_unpredicted("outcome", row_.name(), verdict.error());
    const std::string outcome = row_.outcome();
    const bool is_right =
        outcome == "fits" ? *verdict != VerdictState::does_not_fit : *verdict != VerdictState::fits;
    scores_.add_verdict("outcome", row_.name(), is_right, *verdict == VerdictState::tight, outcome,
                        std::string(verdict_name(*verdict)));
  }

  const EngineLog& row_;
  TruthContext& context_;
  Scores& scores_;
  double card_gib_ = 0;
};

}  // namespace

void score_engine_logs(const std::vector<EngineLog>& rows, TruthContext& context, Scores& scores) {
  for (const EngineLog& row : rows)
    LogScore(row, context, scores).score();
}

}  // namespace vramgauge::tools
