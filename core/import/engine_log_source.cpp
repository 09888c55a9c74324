#include "import/engine_log_source.h"

#include <algorithm>

#include "units/json.h"

namespace vramgauge {
namespace {

constexpr std::string_view::size_type kMaxPrefix = 240;
constexpr std::string_view::size_type kMaxName = 32;
constexpr std::string_view::size_type kMaxProcesses = 256;

bool starts_with(std::string_view text, std::string_view word) {
  return text.substr(0, word.size()) == word;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "TP0", "PP1", "DP12", "EP3", "PCP0", "DCP1".
bool is_rank(std::string_view word) {
  const auto digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits < 2 || digits > 4) return false;
  return word[digits - 1] == 'P' &&
         word.find_first_not_of("0123456789", digits) == std::string_view::npos;
}

/// The ranks among the words of a text, joined by underscores.
std::string ranks_in(std::string_view text, std::string_view separators) {
  std::string ranks;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    const std::string_view word = text.substr(0, end);
    if (is_rank(word) && ranks.size() + word.size() < kMaxName)
      ranks += (ranks.empty() ? "" : "_") + std::string(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ranks;
}

/// What vLLM puts between parentheses before a line of a process: "Worker_TP0 pid=1".
std::string_view vllm_process(std::string_view head) {
  for (const std::string_view name : {"(Worker", "(VllmWorker", "(EngineCore", "(RayWorker", "(Ray",
                                      "(APIServer", "(DPEngineCore"}) {
    const auto at = head.find(name);
    const auto close = at == std::string_view::npos ? at : head.find(')', at);
    if (close != std::string_view::npos) return head.substr(at + 1, close - at - 1);
  }
  return {};
}

/// What SGLang puts after the time of a line: "TP5" in "[2025-10-16 09:06:22 TP5]".
std::string sglang_ranks(std::string_view head) {
  constexpr std::string_view::size_type kStamp = 20;
  // A collector may put the pod's name between brackets of its own before it.
  for (auto at = head.find('['); at != std::string_view::npos; at = head.find('[', at + 1)) {
    const auto close = head.find(']', at);
    if (close == std::string_view::npos) return {};
    if (close - at > kStamp && is_digit(head[at + 1]))
      return ranks_in(head.substr(at + kStamp, close - at - kStamp), " ");
  }
  return {};
}

}  // namespace

std::string LogSources::number_of(std::string_view process) {
  const auto found = std::find(processes_.begin(), processes_.end(), process);
  const auto index = static_cast<std::string::size_type>(found - processes_.begin());
  if (found == processes_.end() && processes_.size() < kMaxProcesses)
    processes_.emplace_back(process);
  return "worker" + std::to_string(index + 1);
}

std::string LogSources::of(std::string_view line) {
  const std::string_view head = line.substr(0, kMaxPrefix);
  const std::string_view process = vllm_process(head);
  if (process.empty()) return sglang_ranks(head);
  if (starts_with(process, "APIServer")) return {};
  std::string ranks = ranks_in(process, " _,");
  if (starts_with(process, "EngineCore") || starts_with(process, "DPEngineCore"))
    return ranks == "DP0" ? std::string() : ranks;
  if (!ranks.empty()) return ranks;
  constexpr std::string_view kRank = " rank=";
  const auto rank = process.find(kRank);
  if (rank == std::string_view::npos) return number_of(process);
  const std::string_view digits = process.substr(rank + kRank.size());
  const auto end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  return "rank" + std::string(digits.substr(0, std::min(end, kMaxName)));
}

std::string inner_text(std::string_view line) {
  // Docker's files, Python's loggers and collectors, a cloud's export.
  constexpr std::string_view kKeys[] = {"log", "message", "textPayload"};
  if (line.empty() || line.front() != '{') return {};
  const auto record = json::parse(line);
  for (const std::string_view key : kKeys) {
    const json::Value* text = record ? record->find(key) : nullptr;
    if (text == nullptr || text->as_string() == nullptr) continue;
    return text->as_string()->substr(0, text->as_string()->find_last_not_of("\r\n") + 1);
  }
  return {};
}

std::string without_colours(std::string_view text) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const auto escape = std::min(text.find(kEscape), text.size());
    plain.append(text.substr(0, escape));
    text.remove_prefix(escape);
    if (text.empty()) break;
    // ESC [ parameters letter
    auto end = std::string_view::size_type{1};
    if (end < text.size() && text[end] == '[') end = text.find_first_not_of("0123456789;?", 2);
    text.remove_prefix(end == std::string_view::npos ? text.size()
                                                     : std::min(end + 1, text.size()));
  }
  return plain;
}

}  // namespace vramgauge
