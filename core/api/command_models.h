// What the catalogue adds to a command line that was read: the model, and what its own
// configuration says where the command leaves it open.
#pragma once

#include "api/envelope.h"
#include "api/models.h"
#include "import/catalogue.h"

namespace vramgauge::api {

/// `parsed` is a result of the method parse_command. Its `model` becomes {"text", "id"}, with
/// scenario_patch.model beside it when the catalogue has it; else a warning names it. So does its
/// `draft_model`, where there is one. Errors:
/// json.missing_key when it is no such result, those of loading the model.
Answer complete_command(const Catalogue& catalogue, Models& models, json::Value parsed,
                        Diagnostics warnings);

}  // namespace vramgauge::api
