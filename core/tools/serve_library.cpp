// Opens the library with HTTP in it.
#include <climits>

#include <unistd.h>

#include "driver_library.h"
#include "serve_http.h"

namespace vramgauge::tools {
namespace {

/// The folder of the running program, with a slash; empty when it is not known.
std::string own_folder() {
  char path[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return std::string();
  const std::string text(path, static_cast<std::size_t>(length));
  return text.substr(0, text.rfind('/') + 1);
}

}  // namespace

const Http* open_http(std::string& error) {
  constexpr const char* kFile = "vramgauge_http.so";
  const auto library = SharedLibrary::open({own_folder() + kFile}, error);
  if (!library) return nullptr;
  const Http* (*functions)() = nullptr;
  library->find(kHttpFunction, functions);
  if (functions == nullptr) error = std::string(kFile) + " is of another build";
  return functions == nullptr ? nullptr : functions();
}

}  // namespace vramgauge::tools
