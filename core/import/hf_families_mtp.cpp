// Multi-token-prediction layers.
#include "import/hf_families.h"

namespace vramgauge::hf {
namespace {

uint64_t read_num_mtp(ConfigView& view) {
  for (std::string_view key :
       {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}) {
    if (view.given(key)) return view.u64_or(key, 0, {0, kLayerRange.max});
  }
  return 0;
}

}  // namespace

void add_mtp_layers(Import& import, const Traits& traits) {
  const uint64_t num_mtp = read_num_mtp(import.text());
  if (traits.mtp == MtpKind::none || num_mtp == 0 || import.spec.layers.empty()) return;
  const uint64_t hidden = import.spec.hidden_size;
  Layer layer = import.spec.layers.back();
  layer.extras.push_back({"eh_proj", TensorRole::mtp, hidden, 2 * hidden, true});
  layer.extras.push_back({"enorm", TensorRole::mtp, 1, hidden, false});
  layer.extras.push_back({"hnorm", TensorRole::mtp, 1, hidden, false});
  if (traits.mtp == MtpKind::dense_block) {
    layer.ffn = read_dense_ffn(import, traits);
  } else {
    layer.extras.push_back({"shared_head.norm", TensorRole::mtp, 1, hidden, false});
  }
  if (traits.mtp == MtpKind::own_embeddings) {
    layer.extras.push_back({"embed_tokens", TensorRole::mtp, import.spec.vocab_size, hidden, true});
    layer.extras.push_back(
        {"shared_head.head", TensorRole::mtp, import.spec.vocab_size, hidden, true});
  }
  import.spec.mtp_layers.assign(static_cast<size_t>(num_mtp), layer);
}

}  // namespace vramgauge::hf
