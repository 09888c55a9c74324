#include "api/link.h"

#include <optional>
#include <utility>
#include <vector>

namespace vramgauge::api {
namespace {

/// Defaults of link version 1, pinned: they stay even when the program's own defaults move.
Scenario defaults_of_version_1() { return Scenario{}; }

/// Kept readable in a fragment; all else is escaped.
bool is_plain(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("-._~/:,").find(c) != std::string_view::npos;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::string_view::size_type i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) return std::nullopt;
      out += static_cast<char>(*high * 16U + *low);
      i += 2;
    }
  }
  if (!json::is_utf8(out)) return std::nullopt;
  return out;
}

struct Part {
  std::string_view key;
  std::string_view value;
};

std::vector<Part> parts_of(std::string_view fragment) {
  std::vector<Part> parts;
  while (!fragment.empty()) {
    const auto end = fragment.find('&');
    const std::string_view part = fragment.substr(0, end);
    const auto equals = part.find('=');
    if (!part.empty()) {
      parts.push_back({part.substr(0, equals), equals == std::string_view::npos
                                                   ? std::string_view()
                                                   : part.substr(equals + 1)});
    }
    if (end == std::string_view::npos) break;
    fragment.remove_prefix(end + 1);
  }
  return parts;
}

/// The part after # of an address; the whole text when there is none and it looks like parts.
std::string_view fragment_of(std::string_view link) {
  const auto hash = link.find('#');
  if (hash != std::string_view::npos) return link.substr(hash + 1);
  return link.find("://") == std::string_view::npos ? link : std::string_view();
}

class Decoder {
 public:
  DecodedLink take() { return std::move(result_); }

  void read(const Part& part) {
    const std::string key(part.key.substr(0, 80));
    const Field* field = find_field(part.key);
    if (field == nullptr) {
      warn(ErrorCode::link_unknown_key, key, {{"key", key}});
    } else if (result_.given.find(field->key) != nullptr) {
      warn(ErrorCode::link_duplicate_key, key, {{"key", key}});
    } else if (const std::optional<std::string> text = unescaped(part.value)) {
      set(*field, *text);
    } else {
      warn(ErrorCode::link_bad_escape, key, {{"key", key}});
    }
  }

  void warn(ErrorCode code, std::string_view key, ErrorArgs args) {
    result_.warnings.push_back({code, json::pointer_to("", key), std::move(args), std::nullopt});
  }

 private:
  void set(const Field& field, const std::string& text) {
    if (set_field_text(result_.scenario, field, text)) {
      result_.given.set(field.key, field_json(result_.scenario, field));
      return;
    }
    warn(ErrorCode::link_bad_value, field.key, {{"key", field.key}, {"value", text.substr(0, 80)}});
  }

  DecodedLink result_{defaults_of_version_1(), json::Value::object(), {}};
};

}  // namespace

std::string encode_link(const Scenario& scenario) {
  const Scenario defaults = defaults_of_version_1();
  std::string out = "v=" + std::to_string(kLinkVersion);
  for (const Field& field : scenario_fields()) {
    const std::string text = field_text(scenario, field);
    if (text == field_text(defaults, field)) continue;
    out += "&" + std::string(field.key) + "=" + escaped(text);
  }
  return out;
}

Result<DecodedLink> decode_link(std::string_view link) {
  if (link.size() > kMaxLinkBytes) {
    return fail(ErrorCode::link_too_long, "",
                {{"bytes", uint64_t{link.size()}}, {"limit", kMaxLinkBytes}});
  }
  const std::vector<Part> parts = parts_of(fragment_of(link));
  if (parts.empty()) return fail(ErrorCode::link_no_fragment, "");
  Decoder decoder;
  bool has_version = false;
  for (const Part& part : parts) {
    if (part.key != "v") {
      decoder.read(part);
      continue;
    }
    has_version = true;
    const std::optional<uint64_t> version = parse_count(part.value);
    if (!version || *version == 0 || *version > kLinkVersion) {
      return fail(ErrorCode::link_newer_version, "/v", {{"version", part.value.substr(0, 20)}});
    }
  }
  if (!has_version) decoder.warn(ErrorCode::link_missing_version, "v", {{"version", kLinkVersion}});
  return decoder.take();
}

}  // namespace vramgauge::api
