// A catalogue document of someone's own, or the facts of one model, loaded into a fresh session.
#include "fuzz_session.h"

using namespace vramgauge;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  api::Session session;
  fuzz::checked_reply(session.load_catalogue(text));
  fuzz::checked_call(session, "catalogue", R"({"kind":"models"})");
  fuzz::checked_call(session, "estimate", R"({"scenario":{}})");

  const std::string as_model = "{\"models\":[" + std::string(text) + "]}";
  fuzz::checked_reply(session.load_catalogue(as_model));
  return 0;
}
