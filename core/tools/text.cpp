#include "text.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace vramgauge::tools {
namespace {

const json::Value& member(const json::Value& value, std::string_view key) {
  static const json::Value null;
  const json::Value* found = value.find(key);
  return found == nullptr ? null : *found;
}

double number(const json::Value& value) {
  return value.as_number() == nullptr ? 0 : value.as_number()->real;
}

std::string text(const json::Value& value) {
  return value.as_string() == nullptr ? std::string() : *value.as_string();
}

const json::Value::Array& items(const json::Value& value) {
  static const json::Value::Array none;
  return value.as_array() == nullptr ? none : *value.as_array();
}

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::string::size_type>(at), ",");
  }
  return value < 0 ? "-" + digits : digits;
}

std::string verdict_text(const json::Value& verdict) {
  const double margin = number(member(verdict, "margin_bytes"));
  const std::string state = text(member(verdict, "state"));
  if (state == "does_not_fit")
    return fmt::format("Does not fit: {} short on each device", gib_text(-margin));
  if (state == "tight")
    return fmt::format("Tight: {} to spare, less than the uncertainty", gib_text(margin));
  return fmt::format("Fits: {} to spare", gib_text(margin));
}

std::string term_text(const json::Value& term, double capacity) {
  const double bytes = number(member(term, "bytes"));
  std::string out = fmt::format(
      "  {:<12}{:>14}{:>7.1f} %   {} .. {}   {}\n", text(member(term, "id")), gib_text(bytes),
      capacity > 0 ? 100 * bytes / capacity : 0, gib_text(number(member(term, "low_bytes"))),
      gib_text(number(member(term, "high_bytes"))), text(member(term, "basis")));
  for (const json::Value& line : items(member(term, "lines"))) {
    out += fmt::format("      {} = {}\n      = {} = {}\n", text(member(line, "label")),
                       text(member(line, "formula")), text(member(line, "substituted")),
                       grouped(number(member(line, "result"))));
  }
  return out;
}

std::string device_text(const json::Value& device) {
  const double usable = number(member(device, "usable_bytes"));
  const json::Value& total = member(device, "total");
  std::string out =
      fmt::format("{} x {}, {} usable of {}\n", grouped(number(member(device, "count"))),
                  text(member(device, "name")), gib_text(usable),
                  gib_text(number(member(device, "capacity_bytes"))));
  for (const json::Value& term : items(member(device, "terms")))
    out += term_text(term, usable);
  out += fmt::format("  {:<12}{:>14}{:>7.1f} %   {} .. {}   {}\n", "total",
                     gib_text(number(member(total, "bytes"))),
                     usable > 0 ? 100 * number(member(total, "bytes")) / usable : 0,
                     gib_text(number(member(total, "low_bytes"))),
                     gib_text(number(member(total, "high_bytes"))), text(member(total, "basis")));
  return out;
}

std::string limit_text(const json::Value& answers, std::string_view key) {
  const json::Value& value = member(answers, key);
  return value.is_null() ? std::string("no limit") : grouped(number(value));
}

/// Figures that only this engine has.
std::string engine_text(const json::Value& facts) {
  std::string out;
  for (const json::Value& fact : items(facts)) {
    const json::Value& value = member(fact, "value");
    const std::string unit = text(member(fact, "unit"));
    const bool is_whole = value.as_u64().has_value();
    const std::string shown = unit == "bytes" ? gib_text(number(value))
                              : is_whole      ? grouped(number(value))
                                              : json::write(value);
    out += fmt::format("  {:<24}{:>16} {}\n", text(member(fact, "id")), shown,
                       unit == "bytes" || unit == "none" ? "" : unit);
  }
  return out.empty() ? out : "\nThe engine itself:\n" + out;
}

std::string answers_text(const json::Value& result) {
  const json::Value& answers = member(result, "answers");
  const json::Value& cache = member(result, "cache");
  return fmt::format(
      "Cache: {} B per token, {} B fixed and {} B in all per request\n"
      "Most requests at this context: {}\nLongest context at this many requests: {} tokens (the "
      "model's own maximum: {})\n",
      grouped(number(member(cache, "bytes_per_token"))),
      grouped(number(member(cache, "fixed_bytes_per_request"))),
      grouped(number(member(cache, "bytes_per_request"))), limit_text(answers, "max_requests"),
      limit_text(answers, "max_context_tokens"), limit_text(answers, "model_max_context_tokens"));
}

std::string context_limit_text(double tokens) {
  return tokens > 0 ? fmt::format("at most {} tokens", grouped(tokens))
                    : "no stated maximum context";
}

/// What the headers of the files hold, when they were read.
std::string stored_text(const json::Value& stored) {
  if (stored.is_null()) return std::string();
  if (member(stored, "is_total_only").as_boolean() != nullptr &&
      *member(stored, "is_total_only").as_boolean())
    return fmt::format("Weights: {} by the index\n",
                       gib_text(number(member(stored, "total_bytes"))));
  return fmt::format(
      "Weights: {} in {} tensors ({})\n", gib_text(number(member(stored, "total_bytes"))),
      grouped(number(member(stored, "num_tensors"))), text(member(stored, "container")));
}

/// The model's own name, or what its configuration calls itself.
std::string model_name(const json::Value& model) {
  const std::string name = text(member(model, "name"));
  return name.empty() ? "Model without a name" : name;
}

}  // namespace

std::string gib_text(double bytes) { return fmt::format("{:.2f} GiB", bytes / 1073741824.0); }

std::string estimate_text(const json::Value& result) {
  std::string out = verdict_text(member(result, "verdict")) + "\n";
  out += model_name(member(result, "model")) + "\n\n";
  for (const json::Value& device : items(member(result, "devices")))
    out += device_text(device) + "\n";
  return out + answers_text(result) + engine_text(member(result, "engine"));
}

std::string fit_text(const json::Value& result) {
  const std::string outcome = text(member(result, "outcome"));
  std::string out = "What would have to change is fixed";
  if (outcome == "unchanged") out = "Everything fits as it is";
  if (outcome == "less_context") out = "The context is shortened";
  if (outcome == "placed") out = "Layers are divided between GPUs and host memory";
  out += fmt::format("; the verdict is {}\n", text(member(result, "verdict")));
  const auto count = [&result](const char* key) { return grouped(number(member(result, key))); };
  out += fmt::format("  context         {} tokens, {} requests\n", count("context_tokens"),
                     count("num_requests"));
  out += fmt::format("  layers on GPUs  {} of {}, {} of them in part\n", count("gpu_layers"),
                     count("num_layers"), count("partial_layers"));
  out += fmt::format("  as a scenario   {}\n", json::write(member(result, "scenario_patch")));
  return out + fmt::format("  source          {}\n", text(member(result, "source")));
}

std::string model_text(const json::Value& result) {
  const json::Value& parameters = member(result, "parameters");
  std::string out = fmt::format(
      "{} ({})\n{} layers, {}\nParameters: {} ({} active per token)\n", model_name(result),
      text(member(result, "model_type")), grouped(number(member(result, "num_layers"))),
      context_limit_text(number(member(result, "max_context_tokens"))),
      grouped(number(member(parameters, "total"))), grouped(number(member(parameters, "active"))));
  if (const json::Value::Object* roles = member(parameters, "by_role").as_object()) {
    for (const json::Member& role : *roles)
      out += fmt::format("  {:<12}{:>20}\n", role.key, grouped(number(role.value)));
  }
  out += stored_text(member(result, "stored"));
  out += fmt::format("Cache at 16 bit: {} B per token, {} B fixed per request\n",
                     grouped(number(member(member(result, "kv"), "bytes_per_token"))),
                     grouped(number(member(member(result, "kv"), "fixed_bytes_per_request"))));
  return out;
}

std::string catalogue_text(const json::Value& result) {
  std::string out;
  for (const json::Value& item : items(member(result, "items"))) {
    out += fmt::format("{:<56} {}\n", text(member(item, "id")), text(member(item, "name")));
  }
  return out + fmt::format("{} of {}\n", items(member(result, "items")).size(),
                           grouped(number(member(result, "total"))));
}

std::string diagnostics_text(const json::Value& diagnostics, const char* kind) {
  std::string out;
  for (const json::Value& diagnostic : items(diagnostics)) {
    const std::string path = text(member(diagnostic, "path"));
    const json::Value& at = member(diagnostic, "at");
    out += fmt::format("{}: {}", kind, text(member(diagnostic, "message")));
    if (!path.empty()) out += fmt::format(" [{}]", path);
    if (!at.is_null())
      out += fmt::format(" (line {:.0f}, column {:.0f})", number(member(at, "line")),
                         number(member(at, "column")));
    out += fmt::format("\n  {}\n", text(member(diagnostic, "hint")));
  }
  return out;
}

}  // namespace vramgauge::tools
