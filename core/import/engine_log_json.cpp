#include "import/engine_log_json.h"

#include <optional>

namespace vramgauge {
namespace {

constexpr std::vector<LogFigure>::size_type kMaxItems = 4096;
constexpr json::Range kLines = {0, uint64_t{1} << 40};

json::Value figure_json(const LogFigure& figure) {
  json::Value out = json::Value::object();
  out.set("quantity", log_quantity_info(figure.quantity).name);
  out.set("where", figure.where);
  out.set("value", json::Value::signed_integer(figure.value));
  out.set("step", figure.step);
  out.set("line", figure.line);
  return out;
}

json::Value flag_json(const LogFlag& flag) {
  json::Value out = json::Value::object();
  out.set("name", flag.name);
  out.set("value", flag.value);
  out.set("line", flag.line);
  return out;
}

/// The index of a word among the names of an enumeration; reports one that is not among them.
template <typename Name>
uint64_t word_of(json::ObjectReader& reader, std::string_view key, uint64_t count,
                 const Name& name_of) {
  const std::string word = reader.string(key).value_or("");
  for (uint64_t i = 0; i < count; ++i) {
    if (name_of(i) == word) return i;
  }
  reader.error(ErrorCode::value_unreadable, key,
               {{"key", key}, {"value", word.substr(0, 80)}, {"expected", "a known word"}});
  return 0;
}

int64_t signed_of(json::ObjectReader& reader, std::string_view key) {
  const json::Value* value = reader.raw(key);
  const json::Number* number = value == nullptr ? nullptr : value->as_number();
  const bool is_good = number != nullptr && number->is_integer &&
                       number->magnitude <= static_cast<uint64_t>(kLargestLogValue);
  if (!is_good) {
    reader.error(ErrorCode::value_unreadable, key,
                 {{"key", key}, {"value", ""}, {"expected", "a whole number below 2^53"}});
    return 0;
  }
  const auto magnitude = static_cast<int64_t>(number->magnitude);
  return number->is_negative ? -magnitude : magnitude;
}

void report_unread(json::ObjectReader& reader) {
  for (const std::string& key : reader.unread_keys())
    reader.error(ErrorCode::api_unknown_key, key, {{"key", key}});
}

LogFigure read_figure(const json::Value& value, const std::string& path, Diagnostics& errors) {
  json::ObjectReader reader(value, path, errors);
  LogFigure figure;
  figure.quantity =
      static_cast<LogQuantity>(word_of(reader, "quantity", log_quantities().size(), [](uint64_t i) {
        return log_quantity_info(static_cast<LogQuantity>(i)).name;
      }));
  figure.where = reader.string("where").value_or("");
  figure.value = signed_of(reader, "value");
  figure.step = reader.u64("step").value_or(0);
  figure.line = reader.u64("line", kLines).value_or(0);
  report_unread(reader);
  return figure;
}

LogFlag read_flag(const json::Value& value, const std::string& path, Diagnostics& errors) {
  json::ObjectReader reader(value, path, errors);
  LogFlag flag;
  flag.name = reader.string("name").value_or("");
  flag.value = reader.string("value").value_or("");
  flag.line = reader.u64("line", kLines).value_or(0);
  report_unread(reader);
  return flag;
}

template <typename Item, typename Read>
std::vector<Item> read_list(json::ObjectReader& reader, std::string_view key, const Read& read) {
  std::vector<Item> items;
  const json::Value::Array* list = reader.array(key);
  if (list == nullptr) return items;
  const std::string path = reader.path_to(key);
  for (const json::Value& each : *list) {
    if (items.size() >= kMaxItems) break;
    items.push_back(read(each, json::pointer_to(path, uint64_t{items.size()}), reader.errors()));
  }
  return items;
}

}  // namespace

json::Value write_engine_log(const EngineLog& log) {
  json::Value out = json::Value::object();
  out.set("engine", log_engine_name(log.engine));
  out.set("outcome", log_outcome_name(log.outcome));
  out.set("outcome_line", log.outcome_line);
  out.set("lines", log.num_lines);
  out.set("starts", log.num_starts);
  out.set("foreign_lines", log.num_foreign_lines);
  json::Value settings = json::Value::array();
  for (const LogFlag& flag : log.flags)
    settings.push(flag_json(flag));
  json::Value figures = json::Value::array();
  for (const LogFigure& figure : log.figures)
    figures.push(figure_json(figure));
  out.set("settings", std::move(settings));
  out.set("figures", std::move(figures));
  return out;
}

Result<EngineLog> read_engine_log(const json::Value& document, const std::string& path) {
  constexpr uint64_t kNumOutcomes = 5;
  Diagnostics errors;
  json::ObjectReader reader(document, path, errors);
  EngineLog log;
  log.engine = static_cast<LogEngine>(word_of(reader, "engine", kNumLogEngines, [](uint64_t i) {
    return log_engine_name(static_cast<LogEngine>(i));
  }));
  log.outcome = static_cast<LogOutcome>(word_of(reader, "outcome", kNumOutcomes, [](uint64_t i) {
    return log_outcome_name(static_cast<LogOutcome>(i));
  }));
  log.outcome_line = reader.u64("outcome_line", kLines).value_or(0);
  log.num_lines = reader.u64("lines", kLines).value_or(0);
  log.num_starts = reader.u64("starts", kLines).value_or(0);
  log.num_foreign_lines = reader.u64("foreign_lines", kLines).value_or(0);
  log.flags = read_list<LogFlag>(reader, "settings", read_flag);
  log.figures = read_list<LogFigure>(reader, "figures", read_figure);
  report_unread(reader);
  if (!errors.empty()) return fail(std::move(errors));
  return log;
}

}  // namespace vramgauge
