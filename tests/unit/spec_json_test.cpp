// A model as JSON: nothing is lost on the way there and back, and no text does harm.
#include "import/spec_json.h"

#include <gtest/gtest.h>

#include <string>

#include "import/stored_files.h"
#include "model/stored_weights.h"
#include "support/spec_members.h"

namespace vramgauge {
namespace {

/// Gives every member a value of its own that is not its default.
class Filler {
 public:
  template <typename T>
  void fill(T& value) {
    if constexpr (testing::HasMembers<T>) {
      std::apply([this](auto&... member) { (this->fill(member), ...); }, testing::members(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1);
    } else {
      value = static_cast<T>(++last_);
    }
  }
  void fill(std::string& value) { value = "text " + std::to_string(++last_); }
  template <typename T>
  void fill(std::vector<T>& values) {
    values.resize(2);
    fill(values[0]);
    fill(values[1]);
  }
  template <typename T>
  void fill(std::optional<T>& value) {
    value.emplace();
    fill(*value);
  }
  template <typename A, typename B>
  void fill(std::pair<A, B>& value) {
    fill(value.first);
    fill(value.second);
  }
  template <typename... T>
  void fill(std::variant<T...>& value) {
    std::visit([this](auto& one) { this->fill(one); }, value);
  }
  void fill(std::monostate& /*none*/) {}
  void fill(Diagnostics& /*list*/) {}

 private:
  uint64_t last_ = 2;
};

template <typename Variant, size_t... I>
std::vector<Variant> one_of_each(std::index_sequence<I...> /*all*/) {
  return {Variant(std::in_place_index<I>)...};
}
template <typename Variant>
std::vector<Variant> one_of_each() {
  return one_of_each<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());
}

/// Values that members say about each other.
void settle(Layer& layer) {
  for (Mixer& mixer : layer.mixers) {
    if (auto* attention = std::get_if<Attention>(&mixer)) {
      attention->num_heads = 2 * attention->num_kv_heads;
      attention->cache_shared_with = 0;
    }
    if (auto* rwkv = std::get_if<Rwkv>(&mixer)) rwkv->version = 6;
  }
}

Layer plain_layer() {
  Layer layer;
  Attention attention;
  attention.num_heads = 4;
  attention.num_kv_heads = 2;
  attention.head_dim = attention.v_head_dim = 8;
  layer.mixers.emplace_back(attention);
  return layer;
}

SpecDocument full_document() {
  Filler filler;
  SpecDocument document;
  filler.fill(document);
  ModelSpec& spec = document.model.spec;
  spec.layers.assign(1, plain_layer());
  spec.mtp_layers.clear();
  for (const Ffn& ffn : one_of_each<Ffn>()) {
    Layer layer;
    layer.mixers = one_of_each<Mixer>();
    layer.ffn = ffn;
    for (Mixer& mixer : layer.mixers)
      filler.fill(mixer);
    filler.fill(layer.ffn);
    filler.fill(layer.norms);
    filler.fill(layer.norm_bias);
    filler.fill(layer.extras);
    settle(layer);
    spec.layers.push_back(layer);
    spec.mtp_layers.push_back(layer);
  }
  document.model.warnings = {
      {ErrorCode::model_assumed_default, "/head_dim", {{"key", "head_dim"}, {"value", "64"}}}};
  document.stored->tensors[0].layer = 1;
  document.stored->tensors[1].layer = -1;
  // Widths in bits are small numbers.
  document.quantization->schemes = std::vector<QuantScheme>(2);
  for (QuantScheme& scheme : document.quantization->schemes)
    Filler().fill(scheme);
  document.quantization->schemes[1].bits = 3;
  document.quantization->scheme_of_tensor = {
      1, ResolvedQuantization::kNative, ResolvedQuantization::kMixed, 0, 0, 0};
  document.quantization->warnings = {
      {ErrorCode::format_unmatched_modules, {}, {{"count", uint64_t{3}}, {"pattern", "x"}}}};
  return document;
}

Result<SpecDocument> read(const std::string& text) {
  const auto value = json::parse(text);
  if (!value) return fail(value.error());
  return read_spec(*value);
}

SpecDocument there_and_back(const SpecDocument& document) {
  const std::string text = json::write(write_spec(document));
  auto result = read(text);
  if (!result) {
    for (const Diagnostic& error : result.error())
      ADD_FAILURE() << error.path << ": " << message_of(error);
    return {};
  }
  EXPECT_EQ(json::write(write_spec(*result)), text);
  return std::move(*result);
}

/// Every member of every struct with a value that is not its default.
TEST(SpecJson, EveryMemberSurvives) {
  const SpecDocument document = full_document();
  const SpecDocument copy = there_and_back(document);
  EXPECT_TRUE(testing::same(document.model.spec, copy.model.spec));
  EXPECT_TRUE(testing::same(document.model.warnings, copy.model.warnings));
  EXPECT_TRUE(testing::same(document.quantization, copy.quantization));
  ASSERT_TRUE(copy.stored.has_value());
  EXPECT_EQ(document.stored->container, copy.stored->container);
  EXPECT_EQ(document.stored->architecture, copy.stored->architecture);
  // What is in no layer comes first.
  EXPECT_TRUE(testing::same(document.stored->tensors[0], copy.stored->tensors[1]));
  EXPECT_TRUE(testing::same(document.stored->tensors[1], copy.stored->tensors[0]));
}

TEST(SpecJson, RefusedQuantisationSurvives) {
  SpecDocument document;
  document.model.spec.layers.assign(3, plain_layer());
  document.quantization = ResolvedQuantization{
      "odd", {}, {}, {}, {{ErrorCode::format_unknown_quantization, "/q", {{"method", "odd"}}}}, {}};
  const SpecDocument copy = there_and_back(document);
  EXPECT_TRUE(testing::same(document, copy));
}

/// 32 equal layers and the same matrix in each are a row each.
TEST(SpecJson, RepetitionIsWrittenOnce) {
  SpecDocument document;
  document.model.spec.layers.assign(32, plain_layer());
  document.stored.emplace();
  document.quantization.emplace();
  document.quantization->schemes.resize(1);
  for (int64_t layer = 0; layer < 32; ++layer) {
    document.stored->tensors.push_back({"blk." + std::to_string(layer) + ".attn_q.weight",
                                        {64, 64},
                                        "F16",
                                        8192,
                                        TensorRole::attention_q,
                                        layer,
                                        1});
    for (const uint32_t scheme : {ResolvedQuantization::kNative, 0U, 0U})
      document.quantization->scheme_of_tensor.push_back(scheme);
  }
  EXPECT_EQ(json::write(write_spec(document)),
            R"({"model_type":"spec","spec_version":1,"layers":{"kinds":[{"mixers":[{"num_heads":4,)"
            R"("num_kv_heads":2,"head_dim":8}]}],"order":[[32,0]]},"stored":{"tensors":[)"
            R"({"name":"blk.{}.attn_q.weight","dims":[64,64],"type":"F16","role":"attention_q",)"
            R"("layers":[0,32]}]},"quantization":{"schemes":[{}],"scheme_of":[[32,0,2,2]]}})");
  EXPECT_TRUE(testing::same(document, there_and_back(document)));
}

constexpr const char* kAttention = R"({"num_heads":4,"num_kv_heads":2,"head_dim":8})";

std::string with_members(const std::string& members) {
  return R"({"model_type":"spec","spec_version":1,"layers":{"kinds":[{"mixers":[)" +
         std::string(kAttention) + R"(]}],"order":[0,0]})" + members + "}";
}

std::string with_layers(const std::string& layers) {
  return R"({"model_type":"spec","spec_version":1,"layers":)" + layers + "}";
}

std::string with_mixer(const std::string& mixer) {
  return with_layers(R"({"kinds":[{"mixers":[)" + mixer + R"(]}],"order":[0]})");
}

TEST(SpecJson, SmallestDocument) {
  const auto document = read(with_members(""));
  ASSERT_TRUE(document.has_value());
  ASSERT_EQ(document->model.spec.layers.size(), 2U);
  const auto& attention = std::get<Attention>(document->model.spec.layers[1].mixers.front());
  EXPECT_EQ(attention.num_heads, 4U);
  EXPECT_EQ(attention.v_head_dim, 8U);
}

struct Hostile {
  std::string text;
  ErrorCode code;
  std::string path;
};

TEST(SpecJson, HostileTextsAreRefusedByName) {
  const Hostile kTexts[] = {
      {"[]", ErrorCode::json_wrong_type, ""},
      {"{}", ErrorCode::json_missing_key, "/spec_version"},
      {R"({"model_type":"spec","spec_version":2})", ErrorCode::value_out_of_range, "/spec_version"},
      {R"({"model_type":"llama","spec_version":1})", ErrorCode::value_not_a_choice, "/model_type"},
      {R"({"model_type":"spec","spec_version":1})", ErrorCode::json_missing_key, "/layers"},
      {with_members(R"(,"hiden_size":1)"), ErrorCode::model_unknown_structural_key, "/hiden_size"},
      {with_members(R"(,"hidden_size":-1)"), ErrorCode::value_out_of_range, "/hidden_size"},
      {with_members(R"(,"hidden_size":268435457)"), ErrorCode::value_out_of_range, "/hidden_size"},
      {with_members(R"(,"hidden_size":"8")"), ErrorCode::json_wrong_type, "/hidden_size"},
      {with_members(R"(,"name":7)"), ErrorCode::json_wrong_type, "/name"},
      {with_members(R"(,"name":")" + std::string(1025, 'x') + "\""), ErrorCode::value_unreadable,
       "/name"},
      {with_members(R"(,"assumptions":["head_dim"])"), ErrorCode::model_inconsistent,
       "/assumptions"},
      {with_layers("[]"), ErrorCode::json_wrong_type, "/layers"},
      {with_layers("{}"), ErrorCode::json_missing_key, "/layers"},
      {with_layers(R"({"kinds":[{}],"order":[1]})"), ErrorCode::value_unreadable, "/layers/order"},
      {with_layers(R"({"kinds":[],"order":[0]})"), ErrorCode::model_inconsistent, "/layers/order"},
      {with_layers(R"({"kinds":[{}],"order":[[10001,0]]})"), ErrorCode::value_unreadable,
       "/layers/order"},
      {with_layers(R"({"kinds":[{}],"order":[[18446744073709551615,0,0]]})"),
       ErrorCode::value_unreadable, "/layers/order"},
      {with_layers(R"({"kinds":[{}],"order":[[0,0]]})"), ErrorCode::value_unreadable,
       "/layers/order"},
      {with_layers(R"({"kinds":[{}],"order":[[2]]})"), ErrorCode::value_unreadable,
       "/layers/order"},
      {with_layers(R"({"kinds":[{"mixers":[{"kind":"lstm"}]}],"order":[0]})"),
       ErrorCode::value_not_a_choice, "/layers/kinds/0/mixers/0/kind"},
      {with_mixer(R"({"num_kv_heads":2,"head_dim":8})"), ErrorCode::json_missing_key,
       "/layers/kinds/0/mixers/0/num_heads"},
      {with_mixer(R"({"num_heads":3,"num_kv_heads":2,"head_dim":8})"),
       ErrorCode::model_heads_not_divisible, "/layers"},
      {with_mixer(R"({"num_heads":2,"num_kv_heads":2,"head_dim":8,"cache_shared_with":0})"),
       ErrorCode::model_inconsistent, "/layers"},
      {with_mixer(R"({"num_heads":2,"num_kv_heads":2,"head_dim":8,"indexer":7})"),
       ErrorCode::json_wrong_type, "/layers/kinds/0/mixers/0/indexer"},
      {with_mixer(R"({"kind":"rwkv","version":3,"hidden_size":8})"), ErrorCode::value_out_of_range,
       "/layers/kinds/0/mixers/0/version"},
      {with_members(R"(,"towers":[{"tensors":[{"name":"x","rows":4294967297,"cols":1}]}])"),
       ErrorCode::value_out_of_range, "/towers/0/tensors/0/rows"},
      {with_members(R"(,"towers":[{"kind":"smell"}])"), ErrorCode::value_not_a_choice,
       "/towers/0/kind"},
      {with_members(R"(,"warnings":[{"code":"model.unknown"}])"),
       ErrorCode::model_unknown_structural_key, "/warnings/0/code"},
      {with_members(R"(,"warnings":[{"code":"model.unsupported"}])"),
       ErrorCode::model_unknown_structural_key, "/warnings/0/code"},
      {with_members(R"(,"warnings":[{"code":"model.unknown_key","args":{"toString":"x"}}])"),
       ErrorCode::model_unknown_structural_key, "/warnings/0/args"},
      {with_members(R"(,"warnings":[{"code":"model.unknown_key","args":{"key":[]}}])"),
       ErrorCode::json_wrong_type, "/warnings/0/args"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x","dims":[32],"type":"Q9_Z"}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x","dims":[33],"type":"Q4_0"}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x","dims":[32],"type":"F16","bytes":1}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x","type":"F16","dims":[1,1,1,1,1]}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0/dims"},
      {with_members(
           R"(,"stored":{"tensors":[{"name":"x","type":"F16","dims":[8],"layers":[0,1048577]}]})"),
       ErrorCode::value_out_of_range, "/stored/tensors/0/layers"},
      {with_members(
           R"(,"stored":{"tensors":[{"name":"x","type":"F16","dims":[8],"layers":[0,1048576]}]})"),
       ErrorCode::value_overflow, "/stored/tensors/0"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x","type":"F16","dims":[8],"layers":[0]}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0/layers"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x.{}","type":"F16","dims":[8]}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0/name"},
      {with_members(R"(,"stored":{"tensors":[{"name":"x.{}.{}","type":"F16","dims":[8],)"
                    R"("layers":[0,2]}]})"),
       ErrorCode::model_inconsistent, "/stored/tensors/0/name"},
      {with_members(R"(,"quantization":{"method":"x"})"), ErrorCode::model_inconsistent,
       "/quantization"},
      {with_members(R"(,"quantization":{"schemes":[{}],"scheme_of":[3]})"),
       ErrorCode::value_unreadable, "/quantization/scheme_of"},
      {with_members(R"(,"quantization":{"schemes":[{"kind":"nvfp4"}],"scheme_of":[2]})"),
       ErrorCode::model_inconsistent, "/quantization/schemes/0"},
      {with_members(R"(,"quantization":{"schemes":[{"span":"block"}],"scheme_of":[2]})"),
       ErrorCode::model_inconsistent, "/quantization/schemes/0"},
      {with_members(R"(,"quantization":{"schemes":[{"bits":65}],"scheme_of":[2]})"),
       ErrorCode::value_out_of_range, "/quantization/schemes/0/bits"},
  };
  for (const Hostile& hostile : kTexts) {
    const auto document = read(hostile.text);
    ASSERT_FALSE(document.has_value()) << hostile.text;
    EXPECT_EQ(error_info(document.error().front().code).name, error_info(hostile.code).name)
        << hostile.text;
    EXPECT_EQ(document.error().front().path, hostile.path) << hostile.text;
  }
}

/// 10,000 layers of 1,000 tensors each would be 10 million tensors.
TEST(SpecJson, TablesTimesRunsAreBounded) {
  std::string extras;
  for (int i = 0; i < 1000; ++i)
    extras += std::string(i == 0 ? "" : ",") + R"({"name":"x","cols":1})";
  const auto document =
      read(with_layers(R"({"kinds":[{"extras":[)" + extras + R"(]}],"order":[[10000,0]]})"));
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error().front().code, ErrorCode::value_overflow);
}

/// The file's list counts: two experts of 4 x 8 F8_E4M3 with their scales, an embedding of 10 x 8
/// BF16, and a draft that no engine loads.
TEST(StoredWeights, Safetensors) {
  SafetensorsCheckpoint checkpoint;
  const auto add = [&](std::string name, TensorRole role, int64_t layer, std::string dtype,
                       uint64_t rows, uint64_t cols, uint64_t bytes) {
    StoredTensor tensor;
    tensor.file_name = std::move(name);
    tensor.dtype = std::move(dtype);
    tensor.bytes = bytes;
    tensor.weight.role = role;
    tensor.weight.layer = layer;
    tensor.weight.rows = rows;
    tensor.weight.cols = cols;
    checkpoint.tensors.push_back(tensor);
  };
  add("model.embed_tokens.weight", TensorRole::embedding, -1, "BF16", 10, 8, 160);
  for (const std::string expert : {"0", "1"}) {
    const std::string name = "model.layers.0.mlp.experts." + expert + ".up_proj.weight";
    add(name, TensorRole::expert_up, 0, "F8_E4M3", 4, 8, 32);
    add(name + "_scale", TensorRole::expert_up, 0, "F32", 1, 1, 4);
  }
  add("model.layers.1.eh_proj.weight", TensorRole::mtp, 1, "BF16", 8, 16, 256);
  const StoredModel stored = stored_model(checkpoint);
  ASSERT_EQ(stored.tensors.size(), 4U);
  EXPECT_EQ(stored.tensors[1].name, "model.layers.0.mlp.experts.*.up_proj.weight");
  EXPECT_EQ(stored.tensors[1].count, 2U);
  EXPECT_EQ(stored.tensors[1].dims, (std::vector<uint64_t>{4, 8}));
  EXPECT_EQ(stored.tensors[3].name, "model.layers.1.eh_proj.weight");

  const auto weights = stored_weights(stored);
  ASSERT_TRUE(weights.has_value());
  EXPECT_EQ(weights->total.count(), 160U + 2 * (32 + 4));
  EXPECT_EQ(weights->elements, 80U + 2 * (32 + 1));
  EXPECT_EQ(weights->basis, Basis::exact);
  EXPECT_EQ(weights->bytes_by_group[static_cast<size_t>(RoleGroup::expert)].count(), 72U);
  ASSERT_EQ(weights->lines.size(), 3U);
  EXPECT_EQ(weights->lines[1].storage, "F8_E4M3");
  EXPECT_EQ(weights->lines[1].bytes.count(), 64U);
  EXPECT_TRUE(llama_cpp_tensors(stored).empty());
}

TEST(StoredWeights, OverflowIsAnError) {
  StoredModel stored;
  stored.tensors.push_back({"x", {1}, "F8_E4M3", kMaxApiBytes, TensorRole::other, -1, 4096});
  const auto weights = stored_weights(stored);
  ASSERT_FALSE(weights.has_value());
  EXPECT_EQ(weights.error().front().code, ErrorCode::value_overflow);
}

}  // namespace
}  // namespace vramgauge
