// The members of a document outside its layers.
#include "import/spec_json.h"
#include "import/spec_parts.h"
#include "units/ggml_types.h"

namespace vramgauge::spec {
namespace {

constexpr std::string_view kContainers[] = {"gguf", "safetensors"};
constexpr Names kContainerNames = names(kContainers);
/// In the order of QuantScheme::Kind and QuantScheme::Span.
constexpr std::string_view kSchemeKinds[] = {"gptq",  "awq",          "packed_int", "bytes",
                                             "nvfp4", "microscaled",  "bnb_4bit",   "affine",
                                             "exl3",  "modelopt_awq", "bitnet"};
constexpr Names kSchemeKindNames = names(kSchemeKinds);
constexpr std::string_view kSpans[] = {"tensor", "channel", "group", "block"};
constexpr Names kSpanNames = names(kSpans);

}  // namespace

static void describe(Fields& f, QuantScheme& s) {
  const QuantScheme plain;
  f.choice("kind", s.kind, kSchemeKindNames, plain.kind);
  f.number("bits", s.bits, Limit::bits, plain.bits);
  f.number("group_size", s.group_size, Limit::optional_dim);
  f.choice("span", s.span, kSpanNames, plain.span);
  f.number("scale_bits", s.scale_bits, Limit::optional_bits, plain.scale_bits);
  f.number("block_rows", s.block_rows, Limit::optional_dim);
  f.number("block_cols", s.block_cols, Limit::optional_dim);
  f.flag("has_zeros", s.has_zeros);
  f.flag("has_group_index", s.has_group_index);
  f.flag("is_act_ordered", s.is_act_ordered);
  f.flag("is_symmetric", s.is_symmetric);
  f.flag("has_double_scales", s.has_double_scales);
  f.flag("has_input_scale", s.has_input_scale);
}

static void describe(Fields& f, QuantizationTable& table) {
  f.text("method", table.quantization.method);
  f.list("schemes", table.quantization.schemes);
  f.sequence("scheme_of", table.scheme_of, kMixedNumber + table.quantization.schemes.size(),
             kMaxTensors);
  f.text("cache_type", table.quantization.cache_type);
  f.diagnostics("warnings", table.quantization.warnings, Severity::warning);
  f.diagnostics("refused", table.quantization.refused, Severity::error);
}

void describe(Fields& f, StoredRow& row) {
  f.text("name", row.tensor.name);
  f.numbers("dims", row.tensor.dims, Limit::stored_dim);
  f.text("type", row.tensor.type);
  f.number("bytes", row.tensor.bytes, Limit::bytes, gguf_bytes_of(row.tensor).value_or(0));
  f.role("role", row.tensor.role);
  f.number("count", row.tensor.count, Limit::count, 1);
  f.numbers("layers", row.layers, Limit::optional_count);
}

static void describe(Fields& f, StoredTable& stored) {
  f.choice("container", stored.container, kContainerNames, StoredModel::Container::gguf);
  f.text("architecture", stored.architecture);
  f.list("tensors", stored.rows);
}

static void describe(Fields& f, LargestImage& image) {
  f.text("tower", image.tower);
  f.number("tokens", image.tokens, Limit::dim);
  f.number("patches", image.patches, Limit::dim);
  f.number("input_elements", image.input_elements, Limit::elements);
  f.number("hidden_size", image.hidden_size, Limit::dim);
  f.number("intermediate_size", image.intermediate_size, Limit::dim);
  f.flag("is_gated", image.is_gated);
}

static void describe(Fields& f, ModelSpec& spec) {
  f.text("source_model_type", spec.model_type);
  f.text("name", spec.name);
  f.text("dtype", spec.dtype);
  f.number("hidden_size", spec.hidden_size, Limit::optional_dim);
  f.number("vocab_size", spec.vocab_size, Limit::optional_dim);
  f.number("max_context_tokens", spec.max_context_tokens, Limit::tokens);
  f.flag("tie_word_embeddings", spec.tie_word_embeddings);
  f.number("embedding_dim", spec.embedding_dim, Limit::optional_dim);
  f.number("position_embeddings", spec.position_embeddings, Limit::optional_dim);
  f.flag("has_final_norm", spec.has_final_norm, true);
  f.flag("norm_bias", spec.norm_bias);
  f.flag("output_bias", spec.output_bias);
  f.optional_number("num_parameters", spec.num_parameters, Limit::parameters);
  f.number("cross_tokens", spec.cross_tokens, Limit::tokens);
  f.number("state_element_bytes", spec.state_element_bytes, Limit::optional_count);
  f.object("largest_image", spec.largest_image);
  f.number("rope_factor_elements", spec.rope_factor_elements, Limit::optional_dim);
  f.list("rotary_tables", spec.rotary_tables);
  f.list("extras", spec.extras);
}

void describe(Fields& f, Document& document) {
  f.text("model_type", document.marker);
  f.number("spec_version", document.version, Limit::spec_version);
  describe(f, document.spec);
  f.object("layers", document.layers);
  f.object("mtp_layers", document.mtp_layers);
  f.list("towers", document.spec.towers);
  f.texts("assumptions", document.assumptions);
  f.diagnostics("warnings", document.warnings, Severity::warning);
  f.object("stored", document.stored);
  f.object("quantization", document.quantization);
}

std::optional<uint64_t> gguf_bytes_of(const StoredWeight& tensor) {
  const GgmlTypeInfo* type = find_ggml_type(tensor.type);
  if (type == nullptr || tensor.dims.empty()) return std::nullopt;
  CheckedU64 bytes = row_bytes(type->type, tensor.dims.front());
  for (size_t i = 1; i < tensor.dims.size(); ++i)
    bytes *= tensor.dims[i];
  return bytes.get();
}

}  // namespace vramgauge::spec
