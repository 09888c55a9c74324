#include "import/command_images.h"

#include <algorithm>
#include <array>

namespace vramgauge {
namespace {

constexpr auto kNone = std::string_view::npos;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// A program by the image that runs it.
struct Image {
  std::string_view part;
  std::string_view program;
  CommandEngine engine;
};

constexpr Image kImages[] = {
    {"vllm", "vllm serve", CommandEngine::vllm},
    {"sglang", "sglang serve", CommandEngine::sglang},
    {"tensorrt-llm", "trtllm-serve", CommandEngine::tensorrt_llm},
    {"llama.cpp", "llama-server", CommandEngine::llama_cpp},
    {"ollama", "ollama serve", CommandEngine::ollama},
};

/// Options of docker run that take no value; -it and the like are short ones together.
constexpr std::array<std::string_view, 11> kBareOptions = {"--rm",
                                                           "--detach",
                                                           "--interactive",
                                                           "--tty",
                                                           "--init",
                                                           "--privileged",
                                                           "--publish-all",
                                                           "--read-only",
                                                           "--no-healthcheck",
                                                           "--oom-kill-disable",
                                                           "--sig-proxy"};

}  // namespace

std::optional<CommandEngine> engine_of_image(std::string_view image) {
  for (const Image& known : kImages) {
    const auto at = image.find(known.part);
    if (at != kNone && at < image.find_last_of(':')) return known.engine;
  }
  return std::nullopt;
}

std::string version_of(std::string_view image, CommandEngine engine) {
  if (engine_of_image(image) != engine) return {};
  const auto colon = image.rfind(':');
  if (colon == kNone || image.find('/', colon) != kNone) return {};
  std::string_view tag = image.substr(colon + 1);
  if (engine == CommandEngine::llama_cpp) {
    const auto build = tag.rfind("-b");
    if (build != kNone) tag.remove_prefix(build + 1);
    const bool is_build =
        tag.size() > 1 && tag[0] == 'b' && tag.find_first_not_of("0123456789", 1) == kNone;
    return is_build ? std::string(tag) : std::string();
  }
  if (starts_with(tag, "v")) tag.remove_prefix(1);
  std::string_view version = tag.substr(0, tag.find_first_not_of("0123456789."));
  while (!version.empty() && version.back() == '.')
    version.remove_suffix(1);
  return version.find('.') == kNone ? std::string() : std::string(version);
}

std::string_view program_of_image(CommandEngine engine) {
  for (const Image& known : kImages) {
    if (known.engine == engine) return known.program;
  }
  return {};
}

bool docker_option_has_value(std::string_view option) {
  if (option.find('=') != kNone) return false;
  if (starts_with(option, "--")) {
    return std::find(kBareOptions.begin(), kBareOptions.end(), option) == kBareOptions.end();
  }
  return option.find_first_not_of("ditP", 1) != kNone;
}

}  // namespace vramgauge
