// The members of a document outside its layers.
#include "import/spec_json.h"
#include "import/spec_parts.h"
#include "units/ggml_types.h"

namespace vramgauge::spec {
namespace {

constexpr std::string_view kContainers[] = {"gguf", "safetensors"};
/// In the order of QuantScheme::Kind and QuantScheme::Span.
constexpr std::string_view kSchemeKinds[] = {"gptq",  "awq",          "packed_int", "bytes",
                                             "nvfp4", "microscaled",  "bnb_4bit",   "affine",
                                             "exl3",  "modelopt_awq", "bitnet"};
constexpr std::string_view kSpans[] = {"tensor", "channel", "group", "block"};
constexpr json::Range kBits{0, 64};
constexpr json::Range kParameters{1, uint64_t{1} << 50};
constexpr json::Range kStoredDim{0, uint64_t{1} << 40};

}  // namespace

static void describe(Fields& f, QuantScheme& s) {
  const QuantScheme plain;
  f.choice("kind", s.kind, names(kSchemeKinds), plain.kind);
  f.number("bits", s.bits, {1, kBits.max}, plain.bits);
  f.number("group_size", s.group_size, kOptionalDim);
  f.choice("span", s.span, names(kSpans), plain.span);
  f.number("scale_bits", s.scale_bits, kBits, plain.scale_bits);
  f.number("block_rows", s.block_rows, kOptionalDim);
  f.number("block_cols", s.block_cols, kOptionalDim);
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
  f.diagnostics("warnings", table.quantization.warnings, Severity::warning);
  f.diagnostics("refused", table.quantization.refused, Severity::error);
}

void describe(Fields& f, StoredRow& row) {
  f.text("name", row.tensor.name);
  f.numbers("dims", row.tensor.dims, kStoredDim);
  f.text("type", row.tensor.type);
  f.number("bytes", row.tensor.bytes, kBytes, gguf_bytes_of(row.tensor).value_or(0));
  f.role("role", row.tensor.role);
  f.number("count", row.tensor.count, kCount, 1);
  f.numbers("layers", row.layers, kOptionalCount);
}

static void describe(Fields& f, StoredTable& stored) {
  f.choice("container", stored.container, names(kContainers), StoredModel::Container::gguf);
  f.text("architecture", stored.architecture);
  f.list("tensors", stored.rows);
}

static void describe(Fields& f, ModelSpec& spec) {
  f.text("source_model_type", spec.model_type);
  f.text("name", spec.name);
  f.text("dtype", spec.dtype);
  f.number("hidden_size", spec.hidden_size, kOptionalDim);
  f.number("vocab_size", spec.vocab_size, kOptionalDim);
  f.number("max_context_tokens", spec.max_context_tokens, kTokens);
  f.flag("tie_word_embeddings", spec.tie_word_embeddings);
  f.number("embedding_dim", spec.embedding_dim, kOptionalDim);
  f.number("position_embeddings", spec.position_embeddings, kOptionalDim);
  f.flag("has_final_norm", spec.has_final_norm, true);
  f.flag("norm_bias", spec.norm_bias);
  f.flag("output_bias", spec.output_bias);
  f.optional_number("num_parameters", spec.num_parameters, kParameters);
  f.number("cross_tokens", spec.cross_tokens, kTokens);
  f.number("rope_factor_elements", spec.rope_factor_elements, kOptionalDim);
  f.list("rotary_tables", spec.rotary_tables);
  f.list("extras", spec.extras);
}

void describe(Fields& f, Document& document) {
  f.text("model_type", document.marker);
  f.number("spec_version", document.version, {kSpecVersion, kSpecVersion});
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
