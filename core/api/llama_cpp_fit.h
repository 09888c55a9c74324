// The method `fit`: what llama.cpp, or a program that starts it, would choose for a scenario.
#pragma once

#include "api/envelope.h"
#include "api/models.h"
#include "import/catalogue.h"

namespace vramgauge::api {

/// {"scenario": {...}, "launcher": "ollama"} -> what is chosen, and a patch for the scenario that
/// makes the choice. What the scenario does not name is free, see core/api/README.md.
Answer fit(const Catalogue& catalogue, Models& models, const json::Value& request);

}  // namespace vramgauge::api
