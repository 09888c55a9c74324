#include "specs/engine_flags.h"

#include <algorithm>

#include "specs/scenario.h"
#include "units/checked.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGib = uint64_t{1} << 30;
constexpr std::string_view kAll = "...";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
}

/// The mark of a name's kind: '-', '$', '@' or '%'.
char kind_of(std::string_view name) { return name.empty() ? '-' : name.front(); }

std::string_view without_dashes(std::string_view name) {
  while (!name.empty() && name.front() == '-')
    name.remove_prefix(1);
  return name;
}

bool is_alike(char a, char b) { return a == b || (a == '_' && b == '-') || (a == '-' && b == '_'); }

bool starts_alike(std::string_view text, std::string_view start) {
  return start.size() <= text.size() &&
         std::equal(start.begin(), start.end(), text.begin(), is_alike);
}

bool is_same_flag(std::string_view a, std::string_view b) {
  return a.size() == b.size() && starts_alike(a, b);
}

/// Takes the mark of "off" off the front of a spelling.
bool take_negation(std::string_view& spelling) {
  const bool is_negated = spelling.front() == '!';
  if (is_negated) spelling.remove_prefix(1);
  return is_negated;
}

FlagMatch row_match(const EngineFlag& row, bool is_negated) {
  const bool is_switch = row.form == FlagForm::toggle || row.form == FlagForm::lora ||
                         row.form == FlagForm::all_experts;
  return {FlagMatch::Kind::row, &row, is_negated, is_switch ? FlagArity::none : FlagArity::one};
}

constexpr std::string_view kNo = "no-";

/// The row that has exactly this spelling, or this one behind "no-".
std::optional<FlagMatch> exact_row(const EngineFlags& flags, std::string_view name) {
  const std::string_view bare = without_dashes(name);
  const bool has_no = kind_of(name) == '-' && starts_alike(bare, kNo);
  for (const EngineFlag* row = flags.rows; row != flags.rows + flags.num_rows; ++row) {
    std::string_view rest = row->names;
    while (!rest.empty()) {
      std::string_view spelling = take_part(rest, ' ');
      const bool is_negated = take_negation(spelling);
      if (kind_of(spelling) != kind_of(name)) continue;
      const std::string_view known = without_dashes(spelling);
      if (is_same_flag(known, bare)) return row_match(*row, is_negated);
      if (has_no && row->form == FlagForm::toggle && !is_negated &&
          is_same_flag(known, bare.substr(kNo.size()))) {
        return row_match(*row, true);
      }
    }
  }
  return std::nullopt;
}

/// What the mark behind a listed name says of its values; takes the mark off.
FlagArity take_arity(std::string_view& listed) {
  const char mark = listed.back();
  if (mark != '=' && mark != '*' && mark != '?') return FlagArity::none;
  listed.remove_suffix(1);
  if (mark == '=') return FlagArity::one;
  return mark == '*' ? FlagArity::many : FlagArity::optional;
}

/// Names that a list has whole, or those that begin as one of its entries does.
std::optional<FlagMatch> listed_match(std::string_view list, FlagMatch::Kind kind,
                                      std::string_view name, bool takes_stems) {
  std::string_view bare = without_dashes(name);
  while (!list.empty()) {
    std::string_view listed = take_part(list, ' ');
    if (listed.empty()) continue;
    const FlagArity arity = take_arity(listed);
    if (kind_of(listed) == '$' || kind_of(listed) == '@' || kind_of(listed) == '%') {
      if (kind_of(listed) != kind_of(name)) continue;
    } else if (kind_of(name) != '-') {
      continue;
    }
    const auto stem = listed.size() - std::min(kAll.size(), listed.size());
    const bool is_all = listed.substr(stem) == kAll;
    if (is_all != takes_stems) continue;
    const bool is_same = is_all ? starts_alike(bare, listed.substr(0, stem))
                                : is_same_flag(listed, bare) ||
                                      (arity == FlagArity::none && starts_alike(bare, kNo) &&
                                       is_same_flag(listed, bare.substr(kNo.size())));
    if (is_same) return FlagMatch{kind, nullptr, false, is_all ? FlagArity::optional : arity};
  }
  return std::nullopt;
}

/// The one row that a name cut short can mean.
std::optional<FlagMatch> prefix_row(const EngineFlags& flags, std::string_view name) {
  const std::string_view bare = without_dashes(name);
  constexpr std::string_view::size_type kShortest = 3;
  if (bare.size() < kShortest || name.substr(0, 2) != "--") return std::nullopt;
  std::optional<FlagMatch> found;
  for (const EngineFlag* row = flags.rows; row != flags.rows + flags.num_rows; ++row) {
    std::string_view rest = row->names;
    while (!rest.empty()) {
      std::string_view spelling = take_part(rest, ' ');
      const bool is_negated = take_negation(spelling);
      if (kind_of(spelling) != '-' || !starts_alike(without_dashes(spelling), bare)) continue;
      if (found && found->row != row) return std::nullopt;
      found = row_match(*row, is_negated);
    }
  }
  return found;
}

/// One pair of a list of words.
struct WordPair {
  std::string_view field;
  std::string_view flag;
  bool is_written = false;
};

WordPair take_pair(std::string_view& words) {
  const std::string_view pair = take_part(words, ' ');
  const auto mark = std::min(pair.find_first_of("=<"), pair.size());
  return {pair.substr(0, mark), pair.substr(std::min(mark + 1, pair.size())),
          mark < pair.size() && pair[mark] == '='};
}

/// The catalogue's formats of whole GGUF files and the names that quantisers give them
/// (llama.cpp's tools/quantize; "<" is only read).
constexpr std::string_view kGgufNames =
    "Q2_K=Q2_K Q2_K_S=Q2_K_S Q3_K_S=Q3_K_S Q3_K_M=Q3_K_M Q3_K_M<Q3_K Q3_K_L=Q3_K_L Q4_K_S=Q4_K_S "
    "Q4_K_M=Q4_K_M Q4_K_M<Q4_K Q5_K_S=Q5_K_S Q5_K_M=Q5_K_M Q5_K_M<Q5_K Q6_K=Q6_K Q8_0=Q8_0 "
    "F16=F16 F16<FP16 gguf-BF16=BF16 pure-F32=F32 gguf-MXFP4_MOE=MXFP4_MOE gguf-MXFP4_MOE<MXFP4 "
    "IQ1_S=IQ1_S IQ1_M=IQ1_M IQ2_XXS=IQ2_XXS IQ2_XS=IQ2_XS IQ2_S=IQ2_S IQ2_M=IQ2_M "
    "IQ3_XXS=IQ3_XXS IQ3_XS=IQ3_XS IQ3_S=IQ3_S IQ3_M=IQ3_M IQ4_XS=IQ4_XS IQ4_NL=IQ4_NL Q4_0=Q4_0 "
    "Q4_1=Q4_1 Q5_0=Q5_0 Q5_1=Q5_1 pure-TQ1_0=TQ1_0 pure-TQ2_0=TQ2_0";
/// Formats that llama.cpp's converter writes without a quantiser.
constexpr std::string_view kPlainGgufNames = "fp16=F16 bf16=BF16 fp32=F32";

std::string_view field_of_name(std::string_view words, std::string_view given) {
  while (!words.empty()) {
    const WordPair pair = take_pair(words);
    if (is_same_name(pair.flag, given)) return pair.field;
  }
  return {};
}

std::string_view name_of_field(std::string_view words, std::string_view text) {
  while (!words.empty()) {
    const WordPair pair = take_pair(words);
    if (pair.is_written && is_same_name(pair.field, text)) return pair.flag;
  }
  return {};
}

std::optional<std::string> found(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

/// GiB to the nearest millionth, so that what bytes_of_gib gives comes back as it was.
std::optional<std::string> gib_of_bytes(std::string_view given, bool takes_suffixes) {
  const std::optional<uint64_t> bytes = flag_count(given, takes_suffixes);
  if (!bytes) return std::nullopt;
  const CheckedU64 doubled = scaled(CheckedU64(*bytes), 2 * Decimal::kScale, kGib);
  if (!doubled.valid()) return std::nullopt;
  return Decimal::from_micros((doubled.value_or(0) + 1) / 2).text();
}

std::optional<std::string> bytes_of_gib(std::string_view text) {
  const std::optional<Decimal> gib = Decimal::parse(text);
  if (!gib) return std::nullopt;
  const auto bytes = (CheckedU64(kGib) * *gib).get();
  if (!bytes) return std::nullopt;
  return std::to_string(*bytes);
}

std::optional<std::string> toggled(std::string_view given) {
  for (const std::string_view on : {"", "1", "true", "on", "yes"}) {
    if (is_same_name(given, on)) return "on";
  }
  for (const std::string_view off : {"0", "false", "off", "no"}) {
    if (is_same_name(given, off)) return "off";
  }
  return std::nullopt;
}

/// Whole numbers in the engine's notation; everything else as it is.
std::optional<std::string> plain_value(const EngineFlags& flags, const EngineFlag& row,
                                       std::string_view given) {
  const Field* field = find_field(row.field);
  if (field == nullptr) return std::nullopt;
  if (field->number == nullptr) return std::string(given);
  const std::optional<uint64_t> count = flag_count(given, flags.takes_suffixes);
  if (!count) return std::nullopt;
  return std::to_string(*count);
}

/// Power of ten or two that a suffix stands for.
std::optional<uint64_t> suffix_factor(char c) {
  constexpr std::string_view kDecimal = "kmgt";
  constexpr std::string_view kBinary = "KMGT";
  uint64_t factor = 1;
  for (const char suffix : kDecimal) {
    factor *= 1000;
    if (suffix == c) return factor;
  }
  factor = 1;
  for (const char suffix : kBinary) {
    factor <<= 10;
    if (suffix == c) return factor;
  }
  return std::nullopt;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view format_of_gguf_name(std::string_view name) {
  return field_of_name(kGgufNames, name);
}

std::string_view gguf_name_of_format(std::string_view format) {
  const std::string_view name = name_of_field(kGgufNames, format);
  return name.empty() ? name_of_field(kPlainGgufNames, format) : name;
}

std::string_view take_part(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool is_same_name(std::string_view a, std::string_view b) {
  std::string_view::size_type i = 0;
  std::string_view::size_type j = 0;
  while (true) {
    while (i < a.size() && !is_word_character(lower(a[i])))
      ++i;
    while (j < b.size() && !is_word_character(lower(b[j])))
      ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (lower(a[i++]) != lower(b[j++])) return false;
  }
}

std::optional<uint64_t> flag_count(std::string_view text, bool takes_suffixes) {
  if (is_digits(text)) return parse_count(text);
  if (!takes_suffixes || text.empty()) return std::nullopt;
  const std::optional<uint64_t> factor = suffix_factor(text.back());
  if (!factor) return std::nullopt;
  const std::optional<Decimal> number = Decimal::parse(text.substr(0, text.size() - 1));
  if (!number) return std::nullopt;
  return (CheckedU64(*factor) * *number).get();
}

FlagMatch find_flag(const EngineFlags& flags, std::string_view name) {
  if (const auto row = exact_row(flags, name)) return *row;
  for (const bool takes_stems : {false, true}) {
    if (const auto known =
            listed_match(flags.not_modelled, FlagMatch::Kind::not_modelled, name, takes_stems)) {
      return *known;
    }
    if (const auto known =
            listed_match(flags.ignored, FlagMatch::Kind::ignored, name, takes_stems)) {
      return *known;
    }
    if (flags.takes_prefixes && !takes_stems) {
      if (const auto row = prefix_row(flags, name)) return *row;
    }
  }
  return {};
}

std::optional<std::string> field_of_flag(const EngineFlags& flags, const EngineFlag& row,
                                         std::string_view given) {
  switch (row.form) {
    case FlagForm::value: return plain_value(flags, row, given);
    case FlagForm::toggle: return toggled(given);
    case FlagForm::words: return found(field_of_name(row.words, given));
    case FlagForm::bytes: return gib_of_bytes(given, flags.takes_suffixes);
    default: return std::nullopt;
  }
}

std::optional<std::string> flag_of_field(const EngineFlag& row, std::string_view text) {
  switch (row.form) {
    case FlagForm::value: return std::string(text);
    case FlagForm::words: return found(name_of_field(row.words, text));
    case FlagForm::bytes: return bytes_of_gib(text);
    default: return std::nullopt;
  }
}

std::string_view flag_name(const EngineFlag& row, bool is_negated) {
  std::string_view rest = row.names;
  while (!rest.empty()) {
    std::string_view spelling = take_part(rest, ' ');
    if (take_negation(spelling) == is_negated) return spelling;
  }
  return {};
}

std::string flag_absent_text(const EngineFlag& row) {
  if (!row.absent.empty()) return std::string(row.absent);
  const Field* field = find_field(row.field);
  return field == nullptr ? std::string() : field_text({}, *field);
}

}  // namespace vramgauge
