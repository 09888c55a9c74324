// The one shape of every answer: {"ok":true,"result":...,"warnings":[...]} or
// {"ok":false,"errors":[...],...}.
#pragma once

#include <string>

#include "units/json.h"

namespace vramgauge::api {

/// Bounds of the texts that are handed over.
inline constexpr uint64_t kMaxCatalogueBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMaxRequestBytes = uint64_t{16} << 20;

/// What a method answers: a result or errors, and warnings beside either.
struct Answer {
  Result<json::Value> result = json::Value::null();
  Diagnostics warnings;

  Answer(json::Value value) : result(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Answer(json::Value value, Diagnostics given_warnings)
      : result(std::move(value)), warnings(std::move(given_warnings)) {}
  Answer(tl::unexpected<Diagnostics> errors)  // NOLINT(google-explicit-constructor)
      : result(std::move(errors)) {}
};

/// One diagnostic as JSON: code, path, at, args, message, hint.
json::Value diagnostic_json(const Diagnostic& diagnostic);

/// The answer, or errors for the members of a request that nothing asked for.
Answer unknown_keys(json::ObjectReader& reader, Diagnostics& errors, Answer answer);

/// The envelope as text.
std::string write_envelope(Answer answer);

}  // namespace vramgauge::api
