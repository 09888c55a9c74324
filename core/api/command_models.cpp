#include "api/command_models.h"

#include <string>

namespace vramgauge::api {
namespace {

constexpr std::string_view kOwnFormat = "auto";

std::string text_of(const json::Value* value) {
  return value == nullptr || value->as_string() == nullptr ? std::string() : *value->as_string();
}

const CatalogueEntry* find_model(const Catalogue& catalogue, const json::Value& model) {
  const json::Value* candidates = model.find("candidates");
  if (candidates == nullptr || candidates->as_array() == nullptr) return nullptr;
  for (const json::Value& candidate : *candidates->as_array()) {
    const CatalogueEntry* entry = catalogue.models().find(text_of(&candidate));
    if (entry != nullptr) return entry;
  }
  return nullptr;
}

/// --dtype and --quantization say how a checkpoint is computed with; one that is quantised already
/// keeps its own format.
void keep_own_format(json::Value& patch, const LoadedModel& model) {
  if (!model.has_own_format()) return;
  const std::string format = text_of(patch.find("weight_format"));
  for (const std::string_view asked :
       {"bf16", "fp16", "fp32", "fp8-per-tensor", "fp8-block-128", "bnb-4bit", "bnb-int8"}) {
    if (format == asked) patch.set("weight_format", kOwnFormat);
  }
}

/// Server engines take the model's own longest context where none is given.
void fill_longest(json::Value& patch, const LoadedModel& model) {
  const bool is_server = patch.find("tensor_ranks") != nullptr;
  if (!is_server || patch.find("max_model_len") != nullptr || model.spec.max_context_tokens == 0)
    return;
  patch.set("max_model_len", model.spec.max_context_tokens);
}

Diagnostic unknown_model(const json::Value& model) {
  return {ErrorCode::command_model_unknown,
          "/text",
          {{"model", text_of(model.find("text")).substr(0, 80)}},
          std::nullopt};
}

/// {"text", "id"}: the model that drafts, which is in the patch as well when the catalogue has it.
json::Value named_draft(const Catalogue& catalogue, const json::Value& draft, json::Value& patch,
                        Diagnostics& warnings) {
  json::Value named = json::Value::object();
  named.set("text", text_of(draft.find("text")));
  if (const CatalogueEntry* entry = find_model(catalogue, draft)) {
    named.set("id", entry->id);
    patch.set("draft_model", entry->id);
  } else {
    warnings.push_back(unknown_model(draft));
  }
  return named;
}

}  // namespace

Answer complete_command(const Catalogue& catalogue, Models& models, json::Value parsed,
                        Diagnostics warnings) {
  const json::Value* model = parsed.find("model");
  const json::Value* given_patch = parsed.find("scenario_patch");
  if (model == nullptr || given_patch == nullptr || given_patch->as_object() == nullptr) {
    return fail(ErrorCode::json_missing_key, "/parsed/scenario_patch", {{"key", "scenario_patch"}});
  }
  json::Value patch = *given_patch;
  json::Value named = json::Value::object();
  named.set("text", text_of(model->find("text")));
  if (const CatalogueEntry* entry = find_model(catalogue, *model)) {
    Scenario scenario;
    scenario.model = entry->id;
    const auto loaded = models.load(catalogue, scenario, {"/text", "/text"});
    if (!loaded) return fail(loaded.error());
    named.set("id", entry->id);
    patch.set("model", entry->id);
    patch.set("model_config", "");
    keep_own_format(patch, **loaded);
    fill_longest(patch, **loaded);
  } else {
    warnings.push_back(unknown_model(*model));
  }
  if (const json::Value* draft = parsed.find("draft_model"))
    parsed.set("draft_model", named_draft(catalogue, *draft, patch, warnings));
  parsed.set("model", std::move(named));
  parsed.set("scenario_patch", std::move(patch));
  return {std::move(parsed), std::move(warnings)};
}

}  // namespace vramgauge::api
