#include "api/llama_cpp_fit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/llama_cpp.h"
#include "api/resolve.h"
#include "engine/llama_cpp_fit_launcher.h"

namespace vramgauge::api {
namespace {

constexpr const char* kPath = "/scenario";
/// Slots of llama.cpp's server when it is not told; they share the cells. Its other programs have
/// one.
constexpr uint64_t kServerSlots = 4;
/// llama_max_devices(), src/llama.cpp.
constexpr uint64_t kMaxDevices = 16;
constexpr const char* kFitSource =
    "llama.cpp, common/fit.cpp as of 2026-08-08 over the estimate of its engine; common/arg.cpp";

/// What the request asks for, and which fields it names.
struct Request {
  Scenario scenario;
  bool has_context = false;
  bool has_requests = false;
  bool has_unified = false;
  bool has_layers = false;
  /// Empty: llama.cpp's own server.
  std::string launcher;
};

tl::unexpected<Diagnostics> unreadable(std::string path, std::string_view key,
                                       std::string_view value, std::string_view expected) {
  return fail(ErrorCode::value_unreadable, std::move(path),
              {{"key", key}, {"value", value.substr(0, 80)}, {"expected", expected}});
}

tl::unexpected<Diagnostics> too_many_gpus(std::string_view key, uint64_t count) {
  return fail(ErrorCode::value_out_of_range, std::string(kPath) + "/" + std::string(key),
              {{"key", key}, {"value", count}, {"min", uint64_t{1}}, {"max", kMaxDevices}});
}

Result<Request> read_request(json::ObjectReader& reader) {
  Request out;
  const json::Value* given = reader.raw("scenario");
  out.launcher = reader.string("launcher").value_or("");
  if (given != nullptr) {
    auto scenario = read_scenario(*given, kPath);
    if (!scenario) return fail(std::move(scenario.error()));
    out.scenario = std::move(*scenario);
    const auto has = [given](std::string_view key) { return given->find(key) != nullptr; };
    if (has("engine") && out.scenario.engine != kLlamaCpp)
      return unreadable("/scenario/engine", "engine", out.scenario.engine, kLlamaCpp);
    if (out.scenario.gpu_count > kMaxDevices)
      return too_many_gpus("gpu_count", out.scenario.gpu_count);
    out.has_context = has("context_tokens");
    out.has_requests = has("num_requests");
    out.has_unified = has("kv_unified");
    out.has_layers = has("gpu_layers");
  }
  out.scenario.engine = kLlamaCpp;
  return out;
}

void free_what_is_not_named(const Request& request, LlamaCppOptions& options) {
  const bool is_server = options.program == LlamaCppProgram::server;
  if (!request.has_layers) options.n_gpu_layers = -1;
  if (!request.has_requests) {
    options.ctx_tokens = request.scenario.context_tokens;
    options.n_seq_max = is_server ? kServerSlots : 1;
    if (!request.has_unified) options.kv_unified = is_server;
    if (!request.launcher.empty()) options.n_seq_max = 0;
  }
  if (!request.has_context) options.ctx_tokens = 0;
}

Result<LlamaCppLauncher> find_launcher(const Catalogue& catalogue, const std::string& name) {
  const CatalogueEntry* entry = catalogue.launchers().find(name);
  if (entry != nullptr) return llama_cpp_launcher(entry->facts);
  std::string known;
  for (const CatalogueEntry& each : catalogue.launchers().entries())
    known += (known.empty() ? "" : ", ") + each.id;
  return unreadable("/launcher", "launcher", name, known);
}

std::string split_text(const LlamaCppOptions& options) {
  std::string text;
  for (const float share : options.tensor_split)
    text += (text.empty() ? "" : ",") + std::to_string(static_cast<uint64_t>(share));
  return text;
}

std::string overrides_text(const LlamaCppOptions& options) {
  std::string text;
  for (const LlamaCppOverride& each : options.overrides) {
    const bool is_host = each.device == LlamaCppOverride::kHost;
    text += (text.empty() ? "" : ",") + each.pattern + "=" +
            (is_host ? "CPU" : "CUDA" + std::to_string(each.device));
  }
  return text;
}

/// What is written of a fit.
struct Facts {
  const LlamaCppFit& fit;
  const Scenario& scenario;
  const LlamaCppMachine& machine;
  /// -c: of all requests together.
  uint64_t context_tokens;
  /// GPUs before a launcher chose among them.
  uint64_t num_all_gpus;
  uint64_t num_slots;

  uint64_t num_gpus() const { return uint64_t{machine.gpus.size()}; }
  uint64_t gpu_layers() const {
    const int64_t asked = fit.options.n_gpu_layers;
    return asked < 0 ? num_slots : std::min(static_cast<uint64_t>(asked), num_slots);
  }
};

/// Cards of other kinds stay as they are; a launcher that chose one card chose its kind.
void patch_gpus(json::Value& patch, const Facts& facts) {
  if (facts.num_gpus() == facts.num_all_gpus) {
    patch.set("gpu_count", facts.scenario.gpu_count);
    return;
  }
  const std::string& id = facts.machine.gpus.front().id;
  if (!id.empty() && id != facts.scenario.gpu) patch.set("gpu", id);
  patch.set("gpu_count", facts.num_gpus());
  patch.set("more_gpus", "");
}

/// What turns the scenario into the one that was chosen.
json::Value patch_of(const Facts& facts) {
  const LlamaCppOptions& options = facts.fit.options;
  json::Value patch = json::Value::object();
  patch.set("engine", kLlamaCpp);
  if (options.program == LlamaCppProgram::server) patch.set("program", "server");
  patch_gpus(patch, facts);
  patch.set("context_tokens", std::max<uint64_t>(1, facts.context_tokens / options.n_seq_max));
  patch.set("num_requests", options.n_seq_max);
  patch.set("kv_unified", options.kv_unified ? "on" : "off");
  patch.set("batch_tokens", options.n_batch);
  patch.set("ubatch_tokens", options.n_ubatch);
  patch.set("gpu_layers", facts.gpu_layers());
  // Only what was placed: what the user gave is in the scenario.
  if (!facts.fit.shares.empty()) {
    patch.set("tensor_split", split_text(options));
    patch.set("override_tensors", overrides_text(options));
  }
  return patch;
}

json::Value write_fit(const Facts& facts) {
  const LlamaCppFit& fit = facts.fit;
  const Verdict& verdict = fit.estimate.breakdown.verdict;
  uint64_t num_partial = 0;
  for (const LlamaCppFitShare& share : fit.shares)
    num_partial += share.num_partial_layers;
  json::Value out = json::Value::object();
  out.set("outcome", llama_cpp_fit_outcome_name(fit.outcome));
  out.set("fits", json::Value::boolean(verdict.state != VerdictState::does_not_fit));
  out.set("verdict", verdict_name(verdict.state));
  out.set("meets_targets", json::Value::boolean(fit.meets_targets));
  out.set("context_tokens", facts.context_tokens);
  out.set("num_requests", fit.options.n_seq_max);
  out.set("gpus_used", facts.num_gpus());
  out.set("gpu_layers", facts.gpu_layers());
  out.set("num_layers", facts.num_slots);
  out.set("partial_layers", num_partial);
  out.set("scenario_patch", patch_of(facts));
  return out;
}

/// The launch and where its settings come from.
struct Started {
  LlamaCppLaunch launch;
  std::string source;
};

Result<Started> start(const Catalogue& catalogue, const Request& request,
                      const LlamaCppQuestion& question) {
  if (request.launcher.empty())
    return Started{{question.options, question.machine, {}}, kFitSource};
  auto launcher = find_launcher(catalogue, request.launcher);
  if (!launcher) return fail(std::move(launcher.error()));
  return Started{llama_cpp_launch(*launcher, question.model, question.options, question.machine,
                                  question.extras, question.profile.constants),
                 launcher->source};
}

Answer fit_of(const Catalogue& catalogue, Models& models, const Request& request) {
  auto resolved = resolve(catalogue, models, request.scenario, kPath);
  if (!resolved) return fail(std::move(resolved.error()));
  auto question = llama_cpp_question(*resolved, kPath);
  if (!question) return fail(std::move(question.error()));
  if (question->machine.gpus.size() > kMaxDevices)
    return too_many_gpus("more_gpus", uint64_t{question->machine.gpus.size()});
  free_what_is_not_named(request, question->options);
  auto started = start(catalogue, request, *question);
  if (!started) return fail(std::move(started.error()));
  const LlamaCppLaunch& launch = started->launch;
  auto fit = fit_llama_cpp(question->model, launch.options, launch.machine, question->extras,
                           question->profile.constants, launch.targets);
  if (!fit) return fail(below(kPath, std::move(fit.error())));
  const uint64_t context_tokens = fit->options.ctx_tokens == 0
                                      ? question->model.spec.max_context_tokens
                                      : fit->options.ctx_tokens;
  json::Value out = write_fit({*fit, resolved->scenario, launch.machine, context_tokens,
                               uint64_t{question->machine.gpus.size()},
                               uint64_t{question->model.layers.size() + 1}});
  out.set("source", started->source);
  Diagnostics warnings = std::move(resolved->warnings);
  const Diagnostics notes = below(kPath, std::move(fit->estimate.notes));
  warnings.insert(warnings.end(), notes.begin(), notes.end());
  return {std::move(out), std::move(warnings)};
}

}  // namespace

Answer fit(const Catalogue& catalogue, Models& models, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const auto read = read_request(reader);
  if (!errors.empty()) return fail(std::move(errors));
  if (!read) return fail(read.error());
  return unknown_keys(reader, errors, fit_of(catalogue, models, *read));
}

}  // namespace vramgauge::api
