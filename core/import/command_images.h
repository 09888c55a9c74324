// Images that run an engine, and docker's own options before them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "specs/engine_flags.h"

namespace vramgauge {

/// The engine whose image this is.
std::optional<CommandEngine> engine_of_image(std::string_view image);

/// What an engine's image runs by itself.
std::string_view program_of_image(CommandEngine engine);

/// "0.11.0" of "vllm/vllm-openai:v0.11.0-cu129", "b6975" of "llama.cpp:server-cuda-b6975"; empty
/// for an image of something else, and for a tag without a version.
std::string version_of(std::string_view image, CommandEngine engine);

/// Whether the word after an option of docker run is its value.
bool docker_option_has_value(std::string_view option);

}  // namespace vramgauge
