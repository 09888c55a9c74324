// Recurrent states of presets against what libllama allocates for one sequence (rs_bytes; both
// parts fp32).
#include <gtest/gtest.h>

#include <string>

#include "model/cache_bytes.h"
#include "models.h"

namespace vramgauge {
namespace {

using namespace test;

struct StateCase {
  const char* preset;
  /// layers x (n_embd_r + n_embd_s) x 4 B.
  uint64_t bytes;
};

class RecurrentState : public testing::TestWithParam<StateCase> {};

TEST_P(RecurrentState, EqualsLlamaCpp) {
  const auto spec = preset_model(GetParam().preset);
  ASSERT_TRUE(spec);
  const CacheType fp16 = cache_type_named("fp16");
  const auto layout = cache_layout(*spec, fp16, fp16, 1, StatePrecision{4, 4});
  ASSERT_TRUE(layout) << first_message(layout.error());
  EXPECT_EQ(fixed_bytes_per_request(*layout).get(), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Presets, RecurrentState,
                         testing::Values(StateCase{"state-spaces__mamba-2.8b-hf", 24'903'680},
                                         StateCase{"ai21labs__AI21-Jamba-1.5-Mini", 17'432'576},
                                         StateCase{"ibm-granite__granite-4.0-h-small", 154'644'480},
                                         StateCase{"nvidia__Nemotron-H-8B-Base-8K", 103'612'416},
                                         StateCase{"Qwen__Qwen3-Next-80B-A3B-Instruct", 79'036'416},
                                         StateCase{"Qwen__Qwen3.5-27B", 156'893'184},
                                         StateCase{"Qwen__Qwen3.5-35B-A3B", 65'863'680},
                                         StateCase{"LiquidAI__LFM2-1.2B", 163'840}));

}  // namespace
}  // namespace vramgauge
