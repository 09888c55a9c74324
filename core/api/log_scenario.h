// What a start-up log says of the scenario that it is about.
#pragma once

#include <string>
#include <vector>

#include "import/catalogue.h"
#include "import/engine_log.h"
#include "units/json.h"

namespace vramgauge::api {

/// The fields that a log states.
struct LogScenario {
  /// Scenario fields, as in a scenario_patch.
  json::Value patch = json::Value::object();
  /// Settings that no field of a scenario carries.
  std::vector<std::string> not_carried;
  /// The log's model, when the catalogue does not have it.
  std::string unknown_model;
  /// The log does not name its card; it is the only one of that memory.
  bool is_card_by_memory = false;
};

/// Fields by the settings of the log's engine; the model by its name in the catalogue, also under
/// its name without the words of a quantisation; the card by its name, else by its memory where
/// only one has that much, else as a custom one.
LogScenario log_scenario(const EngineLog& log, const Catalogue& catalogue);

}  // namespace vramgauge::api
