// Nemotron-H: layers of one kind each, given by letters or names.
#include "import/hf_hybrid.h"

namespace vramgauge::hf {
namespace {

constexpr Mamba2Keys kNemotronKeys = {"mamba_num_heads", "mamba_head_dim", "n_groups",
                                      "ssm_state_size",  "conv_kernel",    "use_conv_bias",
                                      "use_bias"};

enum class Block { mamba, attention, mlp, moe };

std::optional<Block> block_of(std::string_view name) {
  if (name == "M" || name == "mamba") return Block::mamba;
  if (name == "*" || name == "attention") return Block::attention;
  if (name == "-" || name == "mlp") return Block::mlp;
  if (name == "E" || name == "moe") return Block::moe;
  return std::nullopt;
}

/// Pattern letters, or the list of names that newer configurations give.
std::vector<std::string> read_names(ConfigView& view, std::string_view letters_key,
                                    std::string_view names_key) {
  if (const auto names = view.strings(names_key)) return *names;
  std::vector<std::string> names;
  for (const char letter : view.string(letters_key).value_or(""))
    names.emplace_back(1, letter);
  return names;
}

std::vector<Block> read_blocks(ConfigView& view, std::string_view letters_key,
                               std::string_view names_key) {
  const std::string_view key = view.given(names_key) ? names_key : letters_key;
  std::vector<Block> blocks;
  for (const std::string& name : read_names(view, letters_key, names_key)) {
    const auto block = block_of(name);
    if (!block) {
      view.error(ErrorCode::model_unknown_layer_type, key, {{"layer_type", name}});
      return {};
    }
    blocks.push_back(*block);
  }
  return blocks;
}

/// What the blocks of one model are made of; read once, when the first of its kind appears.
class Blocks {
 public:
  Blocks(Import& import, const Traits& traits) : import_(import), traits_(traits) {}

  Layer make(Block block) {
    Layer layer;
    layer.norms = {import_.spec.hidden_size};
    switch (block) {
      case Block::mamba: layer.mixers = {mamba()}; break;
      case Block::attention: layer.mixers = {attention()}; break;
      case Block::mlp: layer.ffn = mlp(); break;
      case Block::moe: set_moe(layer); break;
    }
    return layer;
  }

 private:
  const Mamba2& mamba() {
    if (!mamba_) mamba_ = read_mamba2(import_.text(), kNemotronKeys, 0);
    return *mamba_;
  }
  const Attention& attention() {
    if (!attention_) attention_ = read_attention(import_, traits_);
    return *attention_;
  }
  const DenseFfn& mlp() {
    if (!mlp_) mlp_ = read_dense_ffn(import_, traits_);
    return *mlp_;
  }
  void set_moe(Layer& layer) {
    ConfigView& view = import_.text();
    if (!moe_) {
      moe_ = read_moe_ffn(view, traits_);
      moe_->expert_hidden_size = view.u64_or("moe_latent_size", 0);
    }
    layer.ffn = *moe_;
    const uint64_t latent = moe_->expert_hidden_size;
    if (latent == 0) return;
    const uint64_t hidden = import_.spec.hidden_size;
    layer.extras.push_back({"mixer.fc1_latent_proj", TensorRole::other, latent, hidden, true});
    layer.extras.push_back({"mixer.fc2_latent_proj", TensorRole::other, hidden, latent, true});
  }

  Import& import_;
  const Traits& traits_;
  std::optional<Mamba2> mamba_;
  std::optional<Attention> attention_;
  std::optional<DenseFfn> mlp_;
  std::optional<MoeFfn> moe_;
};

void check_count(ConfigView& view, uint64_t num_blocks) {
  if (num_blocks == 0 || num_blocks > kLayerRange.max) {
    view.bad_pattern("hybrid_override_pattern", num_blocks, "it must name 1 to 10000 layers");
  } else if (view.given("num_hidden_layers") &&
             view.require("num_hidden_layers", kLayerRange) != num_blocks) {
    view.bad_pattern("hybrid_override_pattern", view.require("num_hidden_layers", kLayerRange),
                     "it names " + std::to_string(num_blocks) + " layers");
  }
}

void add_nemotron_mtp(Import& import, Blocks& blocks) {
  ConfigView& view = import.text();
  const uint64_t modules = view.u64_or("num_nextn_predict_layers", 0, {0, kLayerRange.max});
  const auto pattern = read_blocks(view, "mtp_hybrid_override_pattern", "mtp_layers_block_type");
  if (modules != 0 && pattern.empty() && !import.failed()) {
    view.error(ErrorCode::json_missing_key, "mtp_layers_block_type",
               {{"key", "mtp_layers_block_type"}});
  }
  for (uint64_t module = 0; module < modules && !import.failed(); ++module) {
    std::vector<Layer> layers;
    for (const Block block : pattern)
      layers.push_back(blocks.make(block));
    add_mtp_module(import.spec, std::move(layers));
  }
}

}  // namespace

void build_nemotron_h(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  read_width_dims(import, traits);
  const std::vector<Block> pattern =
      read_blocks(view, "hybrid_override_pattern", "layers_block_type");
  if (!import.failed()) check_count(view, pattern.size());
  if (import.failed()) return;
  Blocks blocks(import, traits);
  for (const Block block : pattern) {
    import.spec.layers.push_back(blocks.make(block));
    if (import.failed()) return;
  }
  add_nemotron_mtp(import, blocks);
  for (const std::string_view key :
       {"mamba_proj_bias", "mlp_bias", "moe_intermediate_size", "n_shared_experts"}) {
    view.ignore(key);
  }
  ignore_recurrent_keys(view);
}

}  // namespace vramgauge::hf
