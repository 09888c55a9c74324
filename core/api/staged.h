// What the faces of SGLang and TensorRT-LLM have in common.
#pragma once

#include "api/resolve.h"
#include "api/server_model.h"
#include "engine/terms.h"
#include "engine/versioned_constants.h"

namespace vramgauge::api {

/// Fills in what every stage is asked with. Errors: those of server_weights, below `path`.
Result<const ServerWeights*> set_stages(StagedInputs& inputs, const Resolved& resolved,
                                        const ServerModel& model, const ServerRules& rules,
                                        const std::string& path);

/// The release that a scenario names; the newest when it names none. Error: value.unreadable.
Result<uint64_t> release_of(const Scenario& scenario, const std::string& path);

/// What a pool that holds fewer tokens than one request means; nothing when it holds one.
void note_short_pool(Diagnostics& notes, std::string_view engine, uint64_t pool_tokens,
                     uint64_t context_tokens, const std::string& path);

/// The engine's own figures, under way.
class Facts {
 public:
  Facts& number(std::string_view key, uint64_t value, std::string_view unit);
  Facts& fraction(std::string_view key, const Decimal& value);
  std::vector<EngineFact> list;
};

/// Answers of one replica as those of all.
void multiply(Answers& answers, uint64_t replicas);

}  // namespace vramgauge::api
