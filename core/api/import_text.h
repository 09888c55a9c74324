// The method import, which the session and the reader share.
#pragma once

#include "api/envelope.h"
#include "api/models.h"

namespace vramgauge::api {

/// Answers {"text", "name"}: the model that a text describes, and scenario_patch, what to put into
/// a scenario to use it. The model_config of the patch needs no importer, whatever the text was.
/// Errors point into the text.
Answer import_text(Models& models, const json::Value* class_defaults, const json::Value& request);

}  // namespace vramgauge::api
