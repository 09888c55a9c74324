// The planner names flags of engines without the tables of their command lines, which the page
// loads later: each flag that it names must be one of the tables', of the same field.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "api/plan_levers.h"
#include "specs/engine_flags.h"
#include "specs/scenario.h"

namespace vramgauge::api {
namespace {

constexpr CommandEngine kEngines[] = {CommandEngine::vllm, CommandEngine::sglang,
                                      CommandEngine::tensorrt_llm, CommandEngine::llama_cpp};

/// The field that a command line sets for one of a lever: the model's name says its format, ranks
/// are GPUs, servers are told the longest context only, llama.cpp's cache types are two.
std::string_view commanded_field(std::string_view engine, std::string_view field,
                                 std::string_view name) {
  if (field == "weight_format") return "model";
  if (field == "gpu_count") return "tensor_ranks";
  if (field == "context_tokens" && engine != "llama_cpp") return "max_model_len";
  if (name == "--cache-type-v") return "cache_type_v";
  return field;
}

std::string_view next_name(std::string_view& names) {
  std::string_view name = take_part(names, ',');
  while (!name.empty() && name.front() == ' ')
    name.remove_prefix(1);
  return name;
}

void expect_in_table(const EngineFlags& flags, std::string_view field, std::string_view names) {
  while (!names.empty()) {
    const std::string_view name = next_name(names);
    const bool is_option = name.front() == '-';
    const FlagMatch match =
        find_flag(flags, is_option ? std::string(name) : '%' + std::string(name));
    ASSERT_EQ(match.kind, FlagMatch::Kind::row) << flags.id << ' ' << name;
    EXPECT_EQ(match.row->field, commanded_field(flags.id, field, name)) << flags.id << ' ' << name;
  }
}

TEST(LeverFlags, AreThoseOfTheCommandLine) {
  uint64_t num_flags = 0;
  for (const CommandEngine engine : kEngines) {
    const EngineFlags& flags = engine_flags(engine);
    for (const Field& field : scenario_fields()) {
      const std::string_view names = engine_flag(flags.id, field.key);
      if (names.empty()) continue;
      ++num_flags;
      expect_in_table(flags, field.key, names);
    }
  }
  EXPECT_GT(num_flags, 25U);
}

}  // namespace
}  // namespace vramgauge::api
