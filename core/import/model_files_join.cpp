#include "import/model_files_join.h"

#include <algorithm>
#include <set>

#include "import/custom_model.h"
#include "import/gguf_model.h"
#include "import/model_files_shards.h"
#include "import/quantization_config.h"
#include "import/spec_json.h"
#include "import/stored_files.h"
#include "units/checked.h"
#include "units/index.h"
#include "units/json_pointer.h"

namespace vramgauge::files {
namespace {

std::string text_member(const json::Value& document, std::string_view key) {
  const json::Value* found = document.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

/// The files by what they are for.
struct Chosen {
  std::vector<File*> ggufs;
  std::vector<File*> weights;
  std::vector<const File*> indexes;
  std::vector<const File*> configs;
  std::vector<const File*> quantizations;
  std::vector<const File*> pickles;
  /// Not known, or beside others that say the same; side files are passed over in silence.
  std::vector<const File*> ignored;
  uint64_t num_consolidated = 0;
};

void choose(File& file, const Present& present, Chosen& chosen) {
  if (file.kind == Kind::side) return;
  if (file.kind == Kind::pickle) return chosen.pickles.push_back(&file);
  if (!is_read(file.kind, present)) {
    if (file.kind == Kind::consolidated) {
      ++chosen.num_consolidated;
    } else {
      chosen.ignored.push_back(&file);
    }
    return;
  }
  if (file.is_gguf()) return chosen.ggufs.push_back(&file);
  if (file.is_safetensors()) return chosen.weights.push_back(&file);
  if (file.kind == Kind::index) return chosen.indexes.push_back(&file);
  if (file.kind == Kind::config) return chosen.configs.push_back(&file);
  if (file.kind == Kind::quantization) return chosen.quantizations.push_back(&file);
  chosen.ignored.push_back(&file);
}

/// The weights of an index that are in pickles are those of the other index.
void drop_pickle_indexes(Chosen& chosen) {
  if (chosen.indexes.size() < 2) return;
  const auto names_pickles = [](const File* file) {
    return kind_by_name(file->index.files.front()) == Kind::pickle;
  };
  const auto first = std::stable_partition(chosen.indexes.begin(), chosen.indexes.end(),
                                           [&](const File* file) { return !names_pickles(file); });
  chosen.indexes.erase(std::max(first, chosen.indexes.begin() + 1), chosen.indexes.end());
}

/// Engines read only the files that the index names (vLLM 0.19,
/// model_loader/weight_utils.py, filter_duplicate_safetensors_files).
void drop_unlisted_weights(Chosen& chosen) {
  if (chosen.indexes.empty()) return;
  std::set<std::string_view> listed;
  for (const std::string& name : chosen.indexes.front()->index.files)
    listed.insert(std::string_view(name).substr(name.find_last_of('/') + 1));
  const auto is_listed = [&](const File* file) { return listed.count(file->name) != 0; };
  const auto first = std::stable_partition(chosen.weights.begin(), chosen.weights.end(), is_listed);
  if (first == chosen.weights.begin()) return;
  chosen.ignored.insert(chosen.ignored.end(), first, chosen.weights.end());
  chosen.weights.erase(first, chosen.weights.end());
}

tl::unexpected<Diagnostics> several(const File& first, const File& second) {
  return fail(ErrorCode::import_several_models, "",
              {{"first", first.name}, {"second", second.name}});
}

/// A name that occurs twice, or two of what a model has one of.
Diagnostics find_conflict(const std::vector<File>& files, const Chosen& chosen) {
  std::set<std::string_view> names;
  const Present present = present_in(files);
  for (const File& file : files) {
    if (is_read(file.kind, present) && !names.insert(file.name).second)
      return fail(ErrorCode::import_duplicate_file, "", {{"file", file.name}}).value();
  }
  if (!chosen.ggufs.empty() && !chosen.weights.empty())
    return several(*chosen.ggufs.front(), *chosen.weights.front()).value();
  for (const auto* single : {&chosen.configs, &chosen.indexes, &chosen.quantizations}) {
    if (single->size() > 1) return several(*(*single)[0], *(*single)[1]).value();
  }
  return {};
}

void warn(Diagnostics& warnings, ErrorCode code, ErrorArgs args) {
  warnings.push_back({code, "", std::move(args), std::nullopt});
}

Diagnostics find_missing_shard(const std::vector<File*>& weights) {
  std::vector<std::string_view> names;
  for (const File* file : weights)
    names.push_back(file->name);
  const auto missing = missing_shard(names);
  if (!missing) return {};
  return fail(ErrorCode::import_file_missing, "", {{"file", *missing}}).value();
}

// --- GGUF ---

/// Several files none of which says that it is one of several.
const File* find_second_model(const std::vector<File*>& ggufs) {
  for (const File* file : ggufs) {
    if (ggufs.size() > 1 && !file->gguf.split) return file == ggufs.front() ? ggufs[1] : file;
  }
  return nullptr;
}

Result<ImportedFiles> join_gguf(const std::vector<File*>& ggufs, uint64_t num_files) {
  if (const File* second = find_second_model(ggufs)) return several(*ggufs.front(), *second);
  std::vector<GgufHeader> headers;
  for (File* file : ggufs)
    headers.push_back(std::move(file->gguf));
  Result<GgufHeader> header = merge_gguf_headers(std::move(headers));
  if (!header) return fail(std::move(header.error()));
  Result<ImportedModel> model = import_gguf(*header);
  if (!model) {
    Diagnostics errors;
    append_located(errors, *ggufs.front(), num_files, model.error());
    return fail(std::move(errors));
  }
  ImportedFiles result;
  result.model = std::move(*model);
  result.stored = stored_model(*header);
  return result;
}

// --- Hugging Face ---

Result<ImportedFiles> read_config(const json::Value& document, const json::Value* class_defaults) {
  ImportedFiles result;
  const std::string model_type = text_member(document, "model_type");
  if (model_type == kSpecModelType) {
    Result<SpecDocument> spec = read_spec(document);
    if (!spec) return fail(std::move(spec.error()));
    result.model = std::move(spec->model);
    result.stored = std::move(spec->stored);
    result.resolved_quantization = std::move(spec->quantization);
    return result;
  }
  Result<ImportedModel> model = model_type == kCustomModelType
                                    ? import_custom_model(document)
                                    : import_hf_config(document, class_defaults);
  if (!model) return fail(std::move(model.error()));
  result.model = std::move(*model);
  return result;
}

/// quantize_config.json and quant_config.json of older tools name no method: GPTQ's has "bits",
/// AWQ's "w_bit".
json::Value with_method(const json::Value& beside) {
  json::Value named = beside;
  if (beside.find("quant_method") != nullptr || beside.find("quantization") != nullptr)
    return named;
  if (beside.find("w_bit") != nullptr) return named.set("quant_method", "awq");
  if (beside.find("bits") != nullptr) return named.set("quant_method", "gptq");
  return named;
}

std::string method_named(const json::Value& config, const json::Value* beside) {
  const json::Value* inside = config.find("quantization_config");
  const json::Value* holder = inside != nullptr ? inside : beside;
  return holder == nullptr ? std::string() : text_member(*holder, "quant_method");
}

void read_quantization_of(const File& config, const Chosen& chosen, uint64_t num_files,
                          ImportedFiles& result) {
  const File* file = chosen.quantizations.empty() ? nullptr : chosen.quantizations.front();
  std::optional<json::Value> beside;
  if (file != nullptr) beside = with_method(file->document);
  const json::Value* beside_value = beside ? &*beside : nullptr;
  Result<std::optional<QuantizationConfig>> read = read_quantization(config.document, beside_value);
  if (read) {
    result.quantization = std::move(*read);
    return;
  }
  const bool is_inside = config.document.find("quantization_config") != nullptr || file == nullptr;
  append_located(result.refused_quantization, is_inside ? config : *file, num_files, read.error());
  result.refused_method = method_named(config.document, beside_value);
}

/// Every decoder layer that has weights must have some in the files: otherwise files are missing,
/// or belong to another model.
Diagnostics check_layers(const ModelSpec& spec, const StoredModel& stored, const File& first) {
  std::set<int64_t> found;
  for (const StoredWeight& tensor : stored.tensors) {
    if (tensor.layer >= 0 && tensor.role != TensorRole::mtp) found.insert(tensor.layer);
  }
  uint64_t num_missing = 0;
  for (uint64_t i = 0; i < spec.layers.size(); ++i) {
    const Layer& layer = spec.layers[index_of(i)];
    const bool is_empty = layer.mixers.empty() && layer.ffn.index() == 0;
    if (!is_empty && found.count(static_cast<int64_t>(i)) == 0) ++num_missing;
  }
  if (num_missing == 0) return {};
  return fail(ErrorCode::import_layers_missing, "",
              {{"layers", uint64_t{spec.layers.size()}},
               {"missing", num_missing},
               {"file", first.name}})
      .value();
}

bool is_adapter(const SafetensorsCheckpoint& checkpoint) {
  return checkpoint.num_adapter_tensors != 0 &&
         checkpoint.num_adapter_tensors == checkpoint.tensors.size();
}

Result<SafetensorsCheckpoint> join_weights(const Chosen& chosen, const SafetensorsFacts& facts) {
  std::vector<SafetensorsFile> files;
  for (File* file : chosen.weights)
    files.push_back({file->name, std::move(file->safetensors)});
  const SafetensorsIndex* index = chosen.indexes.empty() ? nullptr : &chosen.indexes.front()->index;
  if (index == nullptr) {
    Diagnostics errors = find_missing_shard(chosen.weights);
    if (!errors.empty()) return fail(std::move(errors));
  }
  Result<SafetensorsCheckpoint> checkpoint = join_safetensors(std::move(files), index, facts);
  if (checkpoint && is_adapter(*checkpoint)) return fail(ErrorCode::model_adapter, "");
  return checkpoint;
}

void append(Diagnostics& to, const Diagnostics& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Diagnostics add_weights(const Chosen& chosen, ImportedFiles& result) {
  const ModelSpec& spec = result.model.spec;
  const Result<SafetensorsCheckpoint> checkpoint =
      join_weights(chosen, {uint64_t{spec.layers.size()}, spec.tie_word_embeddings});
  if (!checkpoint) return checkpoint.error();
  result.stored = stored_model(*checkpoint);
  append(result.model.warnings, checkpoint->warnings);
  return check_layers(spec, *result.stored, *chosen.weights.front());
}

/// The total of an index as one entry, whose place is not known.
void add_total(const File& index, ImportedFiles& result) {
  StoredWeight all;
  all.name = "*";
  all.bytes = *index.index.total_bytes;
  result.stored.emplace();
  result.stored->container = StoredModel::Container::safetensors;
  result.stored->tensors.push_back(std::move(all));
  result.is_total_only = true;
  warn(result.model.warnings, ErrorCode::import_total_only,
       {{"file", index.name}, {"bytes", *index.index.total_bytes}});
}

/// Weights without the configuration that says what they are.
Diagnostics no_config(const Chosen& chosen) {
  if (chosen.weights.empty()) {
    const SafetensorsIndex& index = chosen.indexes.front()->index;
    return fail(ErrorCode::import_no_config, "",
                {{"tensors", uint64_t{index.weight_map.size()}},
                 {"bytes", index.total_bytes.value_or(0)}})
        .value();
  }
  const Result<SafetensorsCheckpoint> checkpoint = join_weights(chosen, {});
  if (!checkpoint) return checkpoint.error();
  return fail(ErrorCode::import_no_config, "",
              {{"tensors", uint64_t{checkpoint->tensors.size()}},
               {"bytes", checkpoint->total_bytes}})
      .value();
}

/// What remains when nothing describes a model.
Diagnostics no_model(const Chosen& chosen) {
  if (!chosen.weights.empty() || !chosen.indexes.empty()) return no_config(chosen);
  if (!chosen.pickles.empty())
    return fail(ErrorCode::import_pickle, "", {{"file", chosen.pickles.front()->name}}).value();
  if (!chosen.quantizations.empty())
    return fail(ErrorCode::import_file_missing, "", {{"file", "config.json"}}).value();
  if (!chosen.ignored.empty())
    return fail(ErrorCode::import_unknown_file, "", {{"file", chosen.ignored.front()->name}})
        .value();
  return fail(ErrorCode::import_nothing, "").value();
}

Result<ImportedFiles> join_config(const Chosen& chosen, const json::Value* class_defaults,
                                  uint64_t num_files) {
  const File& config = *chosen.configs.front();
  Result<ImportedFiles> result = read_config(config.document, class_defaults);
  Diagnostics located;
  append_located(located, config, num_files, result ? result->model.warnings : result.error());
  if (!result) return fail(std::move(located));
  result->model.warnings = std::move(located);
  read_quantization_of(config, chosen, num_files, *result);
  Diagnostics errors;
  if (!chosen.weights.empty()) {
    errors = add_weights(chosen, *result);
  } else if (!chosen.indexes.empty() && chosen.indexes.front()->index.total_bytes) {
    add_total(*chosen.indexes.front(), *result);
  }
  if (!errors.empty()) return fail(std::move(errors));
  return result;
}

void warn_of_ignored(const Chosen& chosen, Diagnostics& warnings) {
  if (chosen.num_consolidated != 0) {
    warn(warnings, ErrorCode::safetensors_duplicates_ignored, {{"count", chosen.num_consolidated}});
  }
  std::vector<const File*> ignored = chosen.ignored;
  ignored.insert(ignored.end(), chosen.pickles.begin(), chosen.pickles.end());
  if (ignored.empty()) return;
  warn(warnings, ErrorCode::import_ignored,
       {{"count", uint64_t{ignored.size()}}, {"file", ignored.front()->name}});
}

}  // namespace

void append_located(Diagnostics& to, const File& file, uint64_t num_files,
                    const Diagnostics& diagnostics) {
  for (Diagnostic each : diagnostics) {
    const json::Value* value = each.path.empty() || file.content.empty()
                                   ? nullptr
                                   : json::value_at(file.document, each.path);
    if (value != nullptr && !each.at) each.at = json::position_of(file.content, value->offset());
    if (num_files > 1) each.path = json::pointer_to("", file.name) + each.path;
    to.push_back(std::move(each));
  }
}

Result<ImportedFiles> join(std::vector<File> files, const json::Value* class_defaults) {
  // So that a model is the same in whatever order its files were given.
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  Chosen chosen;
  const Present present = present_in(files);
  for (File& file : files)
    choose(file, present, chosen);
  drop_pickle_indexes(chosen);
  drop_unlisted_weights(chosen);
  Diagnostics errors = find_conflict(files, chosen);
  const bool has_model = !chosen.ggufs.empty() || !chosen.configs.empty();
  if (errors.empty() && !has_model) errors = no_model(chosen);
  if (!errors.empty()) return fail(std::move(errors));
  Result<ImportedFiles> result = chosen.ggufs.empty()
                                     ? join_config(chosen, class_defaults, files.size())
                                     : join_gguf(chosen.ggufs, files.size());
  if (result) warn_of_ignored(chosen, result->model.warnings);
  return result;
}

}  // namespace vramgauge::files
