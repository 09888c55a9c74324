// Methods that need no catalogue: they live in a module of their own, which the page loads when one
// of them is first asked for.
#pragma once

#include <string>
#include <string_view>

#include "api/envelope.h"

namespace vramgauge::api {

/// Answers one of the methods for which is_tool() is true.
using ToolMethods = Answer (*)(std::string_view method, const json::Value& request);

/// Whether a method is one of these.
bool is_tool(std::string_view method);

/// All of them.
Answer call_tool(std::string_view method, const json::Value& request);

/// The same for a host: text in, text out; never throws, never aborts on input.
class Tools {
 public:
  std::string call(std::string_view method, std::string_view request) const;
};

}  // namespace vramgauge::api
