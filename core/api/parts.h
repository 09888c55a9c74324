// What a session is put together from. The program has everything; the page's modules each have a
// part, and answer engine.module_needed or import.reader_needed for the rest, so that one facade
// serves them all and the linker leaves out what nobody asks for.
#pragma once

#include <memory>

#include "api/envelope.h"
#include "api/importers.h"
#include "api/resolve.h"
#include "api/tools.h"
#include "import/catalogue.h"

namespace vramgauge::api {

/// What an engine keeps while only numbers of a scenario change, not its names.
struct Kept {
  /// More than num_requests has changed since the last call.
  bool has_new_numbers = false;

  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  virtual ~Kept() = default;
};

/// An engine as a session reaches it.
struct EngineFace {
  /// Its id in the catalogue.
  std::string_view id;
  /// Memory per device with its arithmetic, the verdict and the inverse answers. Errors carry
  /// pointers below `path`.
  Result<EngineAnswer> (*estimate)(const Resolved& resolved, const std::string& path) = nullptr;
  /// The same without arithmetic, notes and inverse answers, for searches; null = `estimate` has to
  /// do. `kept` is null whenever names, ranks or the model may have changed.
  Result<Breakdown> (*breakdown)(const Resolved& resolved, const std::string& path,
                                 std::unique_ptr<Kept>& kept) = nullptr;
};

/// The method `fit` (llama_cpp_fit.h).
using FitMethod = Answer (*)(const Catalogue& catalogue, Models& models,
                             const json::Value& request);

struct Parts;
/// The method `check_log` (check_log.h).
using CheckLogMethod = Answer (*)(const Parts& parts, const Catalogue& catalogue, Models& models,
                                  const json::Value& request);

/// The parts of one kind of session.
struct Parts {
  /// Readers of foreign formats, or null.
  const Importers* importers = nullptr;
  const EngineFace* engines = nullptr;
  uint64_t num_engines = 0;
  /// Null where llama.cpp's engine is not among them.
  FitMethod fit = nullptr;
  /// Methods without a catalogue, or null.
  ToolMethods tools = nullptr;
  /// Null where start-up logs are not read.
  CheckLogMethod check_log = nullptr;

  /// Null when the session has no such engine.
  const EngineFace* engine(std::string_view id) const;
};

/// Everything: the program.
const Parts& all_parts();
/// The page's main module: the rule of thumb.
const Parts& page_parts();
/// The page's module for server engines.
const Parts& server_parts();
/// The page's module for llama.cpp.
const Parts& llama_cpp_parts();

}  // namespace vramgauge::api
