// What a command line calls a model: a name on a hub, a path, a GGUF file, an Ollama tag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vramgauge {

struct ModelName {
  /// As it was given.
  std::string text;
  /// Names under which a catalogue may know it, the likeliest first.
  std::vector<std::string> candidates;
  /// The format of its weights as the name says it; empty = it does not say, or says one that is
  /// not known.
  std::string weight_format;
  bool is_gguf = false;
};

/// A hub's name or a path ("org/repo", "/models/org/repo", "x/models--org--repo/snapshots/x",
/// "org/repo-GGUF:Q4_K_M", "dir/file-Q4_K_M-00001-of-00002.gguf", an address on the hub).
ModelName model_name(std::string_view text);

/// A model of Ollama's library ("llama3.3:70b-instruct-q4_K_M") or what it takes from elsewhere
/// ("hf.co/org/repo:Q8_0", a path).
ModelName ollama_model_name(std::string_view text);

}  // namespace vramgauge
