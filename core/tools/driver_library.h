// A shared library opened at run time.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace vramgauge::tools {

/// Opens libraries and finds their functions. A library stays open until the program ends: drivers
/// start threads that outlive any handle.
class SharedLibrary {
 public:
  /// The first of these names that the loader finds; nothing when there is none, with the loader's
  /// own words in `reason`.
  static std::optional<SharedLibrary> open(const std::vector<std::string>& names,
                                           std::string& reason);

  /// The address of a function; null when the library has none of this name.
  void* find(const char* symbol) const;

  template <typename Function>
  void find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The value of an environment variable; empty when it is not set.
std::string environment(const char* name);

/// Where a driver's library is looked for: in the file that `variable` names, or else under its
/// usual names.
std::vector<std::string> library_names(const char* variable, std::vector<std::string> usual);

}  // namespace vramgauge::tools
