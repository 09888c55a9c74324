// A start-up log, from anywhere. In pieces it says what it says as a whole; what was read is
// written and read back; and the comparison copes with every figure, with predictions that come
// from the same bytes and through the facade. What it corrects is a text that is read again.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz_session.h"
#include "import/engine_log_json.h"
#include "plan/log_check.h"
#include "report/log_calibration.h"
#include "report/log_observation.h"

using namespace vramgauge;

namespace {

/// The facade is slower than the rest by far.
constexpr size_t kMaxForFacade = 4096;

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "log: %s\n", what);
  std::abort();
}

EngineLog read_in_pieces(std::string_view text, size_t size) {
  EngineLogReader reader;
  while (!text.empty()) {
    reader.feed(text.substr(0, std::min(size, text.size())));
    text.remove_prefix(std::min(size, text.size()));
  }
  return reader.finish();
}

void check_document(const EngineLog& log, const std::string& document) {
  const Result<json::Value> value = json::parse(document);
  if (!value) broken("what was written is no JSON");
  const Result<EngineLog> copy = read_engine_log(*value, "");
  if (!copy) broken("what was written is not read");
  if (json::write(write_engine_log(*copy)) != document) broken("the second text is another one");
  if (copy->figures.size() != log.figures.size()) broken("figures are lost");
}

/// Predictions of every quantity, as wild as the text.
std::vector<CheckPrediction> predictions_from(const uint8_t* data, size_t size) {
  std::vector<CheckPrediction> list;
  const auto count = static_cast<uint8_t>(CheckQuantity::output_buffer) + 1;
  for (int i = 0; i < count; ++i) {
    int64_t value = 0;
    const size_t offset = static_cast<size_t>(i) * sizeof value;
    if (offset + sizeof value <= size) std::memcpy(&value, data + offset, sizeof value);
    value %= kLargestLogValue;
    const int64_t band = std::abs(value) / 8;
    const auto quantity = static_cast<CheckQuantity>(i);
    list.push_back({quantity, i % 2 == 0 ? "" : "0", {value, value - band, value + band}});
  }
  return list;
}

void compare(const EngineLog& log, const uint8_t* data, size_t size) {
  LogFacts facts;
  facts.num_kv_heads = size % 9;
  facts.num_layers = size % 100;
  facts.tensor_ranks = 1 + size % 16;
  facts.has_towers = size % 2 == 0;
  facts.has_experts = size % 3 == 0;
  const LogCheck check = check_log(log, predictions_from(data, size), facts);
  for (const CheckRow& row : check.rows) {
    if (!row.reasons.empty() && !row.is_large) broken("a reason for nothing");
  }
  const Calibration correction = log_correction(check, Calibration());
  json::write(log_calibration(log, correction));
  const Result<Calibration> read = Calibration::parse(correction.text());
  if (!read) broken("a correction that cannot be read");
  if (read->text() != correction.text()) broken("a correction that is read as another");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const EngineLog log = read_in_pieces(text, size + 1);
  const std::string document = json::write(write_engine_log(log));
  const size_t piece = size == 0 ? 1 : 1 + data[0] % 16;
  if (json::write(write_engine_log(read_in_pieces(text, piece))) != document)
    broken("pieces say something else");
  check_document(log, document);
  if (!json::is_utf8(json::write(log_observation(log)))) broken("an observation is no text");
  compare(log, data, size);
  if (log.engine == LogEngine::unknown || size > kMaxForFacade) return 0;
  json::Value request = json::Value::object();
  request.set("text", text);
  fuzz::checked_call(fuzz::session_with_catalogue(), "check_log", json::write(request));
  return 0;
}
