#include "api/check_log.h"
#include "import/engine_log.h"

namespace vramgauge::api {
namespace {

Result<EngineLog> read_text(const std::string& text) {
  EngineLogReader reader;
  reader.feed(text);
  return reader.finish();
}

}  // namespace

// In a file of its own: only who takes texts links what reads them.
Answer check_log(const Parts& parts, const Catalogue& catalogue, Models& models,
                 const json::Value& request) {
  return check_log_with(read_text, parts, catalogue, models, request);
}

}  // namespace vramgauge::api
