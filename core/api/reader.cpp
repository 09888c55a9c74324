#include "api/reader.h"

#include <optional>
#include <utility>

#include "api/envelope.h"
#include "api/import_text.h"
#include "api/models.h"
#include "import/model_files.h"
#include "import/spec_json.h"
#include "model/checkpoint_format.h"
#include "model/checkpoint_resolve.h"
#include "model/weights.h"
#include "units/checked.h"

namespace vramgauge::api {
namespace {

json::Value range_json(const FileRange& range) {
  json::Value out = json::Value::object();
  out.set("file", range.file);
  out.set("offset_bytes", range.offset_bytes);
  out.set("length_bytes", range.length_bytes);
  return out;
}

/// The configuration's quantisation, resolved against the tensors of the model.
std::optional<ResolvedQuantization> quantization_of(ImportedFiles& files) {
  if (files.resolved_quantization) return std::move(files.resolved_quantization);
  if (!files.refused_quantization.empty())
    return refused_quantization(files.refused_method, std::move(files.refused_quantization));
  if (!files.quantization) return std::nullopt;
  return resolve_quantization(weight_tensors(files.model.spec), files.model.spec,
                              *files.quantization);
}

uint64_t total_bytes(const StoredModel& stored) {
  CheckedU64 total;
  for (const StoredWeight& tensor : stored.tensors)
    total += CheckedU64(tensor.bytes) * CheckedU64(tensor.count);
  return total.value_or(kMaxApiBytes);
}

uint64_t num_tensors(const StoredModel& stored) {
  CheckedU64 number;
  for (const StoredWeight& tensor : stored.tensors)
    number += CheckedU64(tensor.count);
  return number.value_or(kMaxApiBytes);
}

/// Whether the tensors that the configuration means are, drafts counted, as many bytes as the
/// index announces: then these tensors are what the files hold.
bool is_derived_total(const SpecDocument& document) {
  const std::vector<WeightTensor> tensors = weight_tensors(document.model.spec);
  ResolvedQuantization native;
  native.scheme_of_tensor.assign(tensors.size(), ResolvedQuantization::kNative);
  const Result<FormattedWeights> derived =
      format_resolved(tensors, document.model.spec,
                      document.quantization ? *document.quantization : native, Drafts::counted);
  return derived && derived->total.count() == total_bytes(*document.stored);
}

void drop_warning(Diagnostics& warnings, ErrorCode code) {
  for (auto each = warnings.begin(); each != warnings.end(); ++each) {
    if (each->code != code) continue;
    warnings.erase(each);
    return;
  }
}

json::Value stored_json(const StoredModel& stored, bool is_total_only) {
  json::Value out = json::Value::object();
  out.set("container", stored.container == StoredModel::Container::gguf ? "gguf" : "safetensors");
  out.set("total_bytes", total_bytes(stored));
  out.set("num_tensors", num_tensors(stored));
  out.set("is_total_only", json::Value::boolean(is_total_only));
  return out;
}

}  // namespace

struct Reader::State {
  State() : files(nullptr) {}

  /// An object of classes; null before a catalogue is loaded.
  json::Value class_defaults;
  ModelFiles files;
  /// What a model without a name is called.
  std::string name;

  Answer open(const json::Value& request);
  Answer progress(Diagnostics errors) const;
  Answer document();
  Answer finish();
};

Answer Reader::State::open(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  name = reader.string("name").value_or("");
  if (!reader.has("files")) reader.error(ErrorCode::json_missing_key, "files", {{"key", "files"}});
  const json::Value::Array* list = reader.array("files");
  files = ModelFiles(&class_defaults);
  for (uint64_t i = 0; list != nullptr && i < list->size(); ++i) {
    json::ObjectReader file((*list)[static_cast<json::Value::Array::size_type>(i)],
                            json::pointer_to("/files", i), errors);
    const std::optional<uint64_t> size = file.u64("size_bytes");
    files.add_file(file.string("name").value_or(""), size);
    for (const std::string& key : file.unread_keys())
      file.error(ErrorCode::api_unknown_key, key, {{"key", key}});
  }
  Answer answer = unknown_keys(reader, errors, json::Value::null());
  if (answer.result) return progress({});
  files = ModelFiles(&class_defaults);
  return answer;
}

Answer Reader::State::progress(Diagnostics errors) const {
  if (!errors.empty()) return fail(std::move(errors));
  json::Value wanted = json::Value::array();
  for (const FileRange& range : files.wanted())
    wanted.push(range_json(range));
  json::Value out = json::Value::object();
  out.set("wanted", std::move(wanted));
  out.set("received_bytes", files.received_bytes());
  return out;
}

Answer Reader::State::document() {
  Result<ImportedFiles> read = files.finish();
  if (!read) return fail(std::move(read.error()));
  SpecDocument document;
  document.quantization = quantization_of(*read);
  document.model = std::move(read->model);
  document.stored = std::move(read->stored);
  json::Value stored =
      document.stored ? stored_json(*document.stored, read->is_total_only) : json::Value::null();
  if (read->is_total_only && is_derived_total(document)) {
    document.stored.reset();
    drop_warning(document.model.warnings, ErrorCode::import_total_only);
  }
  json::Value out = json::Value::object();
  out.set("text", json::write(write_spec(document)));
  out.set("name", name);
  out.set("stored", std::move(stored));
  return out;
}

Answer Reader::State::finish() {
  Answer read = document();
  if (!read.result) return read;
  json::Value request = json::Value::object();
  for (const std::string_view key : {"text", "name"})
    request.set(key, *read.result->find(key));
  Models models(&all_importers());
  Answer answer = import_text(models, &class_defaults, request);
  if (answer.result) answer.result->set("stored", *read.result->find("stored"));
  return answer;
}

Reader::Reader() : state_(std::make_unique<State>()) {}
Reader::~Reader() = default;

std::string Reader::load_catalogue(std::string_view document) {
  json::Limits limits;
  limits.max_bytes = kMaxCatalogueBytes;
  Result<json::Value> parsed = json::parse(document, limits);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  const json::Value* defaults = parsed->find("class_defaults");
  const json::Value* classes = defaults == nullptr ? nullptr : defaults->find("classes");
  if (classes != nullptr) state_->class_defaults = *classes;
  return write_envelope(json::Value::object());
}

std::string Reader::open(std::string_view request) {
  json::Limits limits;
  limits.max_bytes = kMaxRequestBytes;
  Result<json::Value> parsed = json::parse(request, limits);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  return write_envelope(state_->open(*parsed));
}

std::string Reader::feed(uint64_t file, uint64_t offset_bytes, std::string_view bytes) {
  return write_envelope(state_->progress(state_->files.feed(file, offset_bytes, bytes)));
}

std::string Reader::set_size(uint64_t file, uint64_t size_bytes) {
  return write_envelope(state_->progress(state_->files.set_size(file, size_bytes)));
}

std::string Reader::finish_document() { return write_envelope(state_->document()); }

std::string Reader::finish() { return write_envelope(state_->finish()); }

}  // namespace vramgauge::api
