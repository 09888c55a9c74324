// What the faces of SGLang and TensorRT-LLM have in common.
#pragma once

#include <memory>
#include <utility>

#include "api/parts.h"
#include "api/resolve.h"
#include "api/server_model.h"
#include "engine/terms.h"
#include "engine/versioned_constants.h"

namespace vramgauge::api {

/// Fills in what every stage is asked with. Errors: those of server_weights, below `path`.
Result<const ServerWeights*> set_stages(StagedInputs& inputs, const Resolved& resolved,
                                        const ServerModel& model, const ServerRules& rules,
                                        const std::string& path,
                                        const ServerLoad& load = ServerLoad());

/// A scenario in an engine's own terms, for scenarios that differ from it in num_requests only.
template <typename Question>
struct KeptQuestion final : Kept {
  explicit KeptQuestion(Question read) : question(std::move(read)) {}
  Question question;
};

/// The question in `kept`, put together by `read` when more than num_requests has changed.
template <typename Question>
Result<Question*> kept_question(Result<Question> (*read)(const Resolved&, const std::string&),
                                const Resolved& resolved, const std::string& path,
                                std::unique_ptr<Kept>& kept) {
  if (kept == nullptr || kept->has_new_numbers) {
    auto question = read(resolved, path);
    if (!question) return fail(std::move(question.error()));
    kept = std::make_unique<KeptQuestion<Question>>(std::move(*question));
  }
  return &static_cast<KeptQuestion<Question>&>(*kept).question;
}

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
