#include "driver_library.h"

#include <cstdlib>

#include <dlfcn.h>

namespace vramgauge::tools {

std::optional<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names,
                                                 std::string& reason) {
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
    const char* said = dlerror();
    if (reason.empty() && said != nullptr) reason = said;
  }
  return std::nullopt;
}

void* SharedLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> library_names(const char* variable, std::vector<std::string> usual) {
  const std::string chosen = environment(variable);
  return chosen.empty() ? std::move(usual) : std::vector<std::string>{chosen};
}

}  // namespace vramgauge::tools
