#include "import/command_line.h"

#include <algorithm>
#include <optional>

#include "import/command_scripts.h"
#include "import/command_settle.h"
#include "import/command_source.h"

namespace vramgauge {
namespace {

constexpr auto kNone = std::string::npos;
constexpr uint64_t kMaxValueBytes = 200;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A flag, and not a negative number or a dash alone.
bool is_flag(std::string_view word) {
  if (word.size() < 2 || word.front() != '-') return false;
  return !is_digit(word[1]) && !(word[1] == '.' && word.size() > 2 && is_digit(word[2]));
}

bool is_truth(std::string_view word) {
  for (const std::string_view known : {"true", "false"}) {
    if (is_same_name(word, known)) return true;
  }
  return false;
}

/// Reads the arguments of one program.
class Arguments {
 public:
  Arguments(const CommandSource& source, ParsedCommand& command,
            std::vector<CommandSetting>& settings)
      : words_(source.arguments),
        flags_(engine_flags(source.engine)),
        command_(command),
        settings_(settings) {
    is_bench_ = source.program == "llama-bench";
    takes_model_ = source.engine != CommandEngine::llama_cpp &&
                   source.program.find("server") == kNone && source.program.find("create") == kNone;
  }

  void read() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (is_flag(word)) {
        read_flag(word);
      } else if (takes_model_) {
        takes_model_ = false;
        add_model(word);
      } else if (flags_.engine != CommandEngine::ollama) {
        list(command_.unknown, "", word);
      }
    }
  }

 private:
  static void list(std::vector<GivenFlag>& to, std::string_view flag, std::string_view value) {
    to.push_back({std::string(flag.substr(0, kMaxValueBytes)),
                  std::string(value.substr(0, kMaxValueBytes))});
  }

  void add_model(const std::string& text) {
    for (uint64_t i = 0; i < flags_.num_rows; ++i) {
      if (flags_.rows[i].form != FlagForm::model) continue;
      settings_.push_back({&flags_.rows[i], "", text, false});
      return;
    }
  }

  /// The flag's name without what is behind a point: --compilation-config.mode. Of the objects that
  /// are given in parts only that of speculation has fields.
  FlagMatch find(std::string_view name) const {
    const FlagMatch match = find_flag(flags_, name);
    const auto point = name.find('.');
    if (match.kind != FlagMatch::Kind::unknown || point == kNone || point < 3) {
      // -O3: a level of compilation.
      if (match.kind == FlagMatch::Kind::unknown && name.size() == 3 && name.substr(0, 2) == "-O")
        return find_flag(flags_, "-O");
      return match;
    }
    FlagMatch whole = find_flag(flags_, name.substr(0, point));
    if (whole.kind == FlagMatch::Kind::row && whole.row->form != FlagForm::speculative)
      whole.kind = FlagMatch::Kind::not_modelled;
    return whole;
  }

  /// Adds a part of an object to those before it: --speculative-config.method mtp.
  void add_part(const EngineFlag& row, const std::string& name, const std::string& value) {
    const auto point = name.find('.');
    const std::string flag = name.substr(0, point);
    auto known = std::find_if(
        settings_.begin(), settings_.end(),
        [&](const CommandSetting& setting) { return setting.row == &row && setting.flag == flag; });
    if (known == settings_.end()) known = settings_.insert(known, {&row, flag, "{}", false});
    json::Value parts = json::parse(known->value).value_or(json::Value::object());
    const auto number = parse_count(value);
    parts.set(name.substr(point + 1),
              number ? json::Value::integer(*number) : json::Value::string(value));
    known->value = json::write(parts);
  }

  void read_flag(const std::string& word) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    FlagMatch match = find(name);
    const bool is_other_test =
        match.row != nullptr && match.row->form == FlagForm::bench_tokens && !is_bench_;
    if (is_other_test) match.kind = FlagMatch::Kind::ignored;
    std::string value;
    if (equals != kNone) {
      value = word.substr(equals + 1);
    } else if (name.size() != 3 || name.substr(0, 2) != "-O") {
      value = take_value(match);
    }
    switch (match.kind) {
      case FlagMatch::Kind::row:
        if (match.row->form == FlagForm::speculative && name.find('.') != kNone)
          return add_part(*match.row, name, value);
        settings_.push_back({match.row, name, std::move(value), match.is_negated});
        return;
      case FlagMatch::Kind::ignored: return list(command_.ignored, name, "");
      case FlagMatch::Kind::not_modelled: return list(command_.not_modelled, name, value);
      case FlagMatch::Kind::unknown: return list(command_.unknown, name, value);
    }
  }

  bool has_next() const { return next_ < words_.size(); }
  bool next_is_flag() const { return is_flag(words_[next_]); }

  std::string take_value(const FlagMatch& match) {
    if (!has_next()) return {};
    switch (match.arity) {
      case FlagArity::none: return take_switch_value(match);
      case FlagArity::one: return take_one(match);
      case FlagArity::optional: return next_is_flag() ? std::string() : words_[next_++];
      case FlagArity::many: return take_many();
    }
    return {};
  }

  /// llama-bench's switches have a value, and some programs' may have one.
  std::string take_switch_value(const FlagMatch& match) {
    const std::string& word = words_[next_];
    const bool is_value = is_truth(word) || (is_bench_ && (word == "0" || word == "1"));
    if (!is_value || match.kind != FlagMatch::Kind::row) return {};
    return words_[next_++];
  }

  std::string take_one(const FlagMatch& match) {
    // llama.cpp's -fa was a switch once.
    const bool may_lack = match.row != nullptr && match.row->field == "flash_attn";
    if (may_lack && !field_of_flag(flags_, *match.row, words_[next_])) return "on";
    if (next_is_flag() && find_flag(flags_, words_[next_]).kind != FlagMatch::Kind::unknown)
      return {};
    return words_[next_++];
  }

  std::string take_many() {
    std::string values;
    while (has_next() && !next_is_flag())
      values += (values.empty() ? "" : " ") + words_[next_++];
    return values;
  }

  const std::vector<std::string>& words_;
  const EngineFlags& flags_;
  ParsedCommand& command_;
  std::vector<CommandSetting>& settings_;
  std::vector<std::string>::size_type next_ = 0;
  bool is_bench_ = false;
  bool takes_model_ = false;
};

/// Variables and parameters; an unknown variable is listed without its value.
void read_named(const EngineFlags& flags, char mark,
                const std::vector<std::pair<std::string, std::string>>& named,
                ParsedCommand& command, std::vector<CommandSetting>& settings) {
  for (const auto& [name, value] : named) {
    const std::string marked = mark + name;
    const FlagMatch match = find_flag(flags, marked);
    const std::string_view shown = mark == '$' ? std::string_view(marked) : std::string_view(name);
    const GivenFlag given = {std::string(shown.substr(0, kMaxValueBytes)), ""};
    if (match.kind == FlagMatch::Kind::row) {
      settings.push_back({match.row, given.flag, value, match.is_negated});
    } else if (match.kind == FlagMatch::Kind::ignored) {
      command.ignored.push_back(given);
    } else if (match.kind == FlagMatch::Kind::not_modelled) {
      command.not_modelled.push_back({given.flag, value.substr(0, kMaxValueBytes)});
    } else {
      command.unknown.push_back(given);
    }
  }
}

}  // namespace

Result<ParsedCommand> parse_command_line(std::string_view text) {
  Result<CommandSource> source = find_command(text);
  if (!source) return fail(std::move(source.error()));
  const EngineFlags& flags = engine_flags(source->engine);
  ParsedCommand command;
  command.engine = source->engine;
  command.program = source->program;
  command.scenario.engine = std::string(flags.id);
  if (source->engine != CommandEngine::transformers) {
    command.scenario.engine_version = source->version;
    command.fields.emplace_back("engine_version");
  }
  std::vector<CommandSetting> settings;
  const bool is_trtllm = source->engine == CommandEngine::tensorrt_llm;
  if (is_trtllm) read_option_files(*source);
  read_named(flags, '$', source->environment, command, settings);
  if (!is_trtllm) read_named(flags, '@', source->parameters, command, settings);
  Arguments(*source, command, settings).read();
  // TensorRT-LLM's file wins over its command line.
  if (is_trtllm) read_named(flags, '%', source->parameters, command, settings);
  settle_command(command, settings);
  return command;
}

}  // namespace vramgauge
