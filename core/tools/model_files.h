// A model from files on disk: headers are read, weights are not.
#pragma once

#include <string>
#include <vector>

namespace vramgauge::tools {

/// What reading a model's files comes to.
struct ReadModel {
  /// The envelope of api::Reader; empty when `unreadable` is not.
  std::string envelope;
  /// A path that cannot be opened or read.
  std::string unreadable;
};

/// Reads a model from files, or from all files of a folder; "-" is standard input.
/// `catalogue` is the document with the class defaults.
ReadModel read_model(const std::vector<std::string>& paths, const std::string& catalogue);

}  // namespace vramgauge::tools
