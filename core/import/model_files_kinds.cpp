// What a file is, by its name and by how it begins.
#include <algorithm>

#include "import/model_files_file.h"

namespace vramgauge::files {
namespace {

struct NameRow {
  std::string_view text;
  Kind kind;
};

constexpr NameRow kNames[] = {
    {"config.json", Kind::config},
    // What AutoGPTQ, AutoAWQ and NVIDIA's Model Optimizer write beside config.json.
    {"quantize_config.json", Kind::quantization},
    {"quant_config.json", Kind::quantization},
    {"hf_quant_config.json", Kind::quantization},
    {"generation_config.json", Kind::side},
    {"special_tokens_map.json", Kind::side},
    {"added_tokens.json", Kind::side},
    {"vocab.json", Kind::side},
    {"chat_template.json", Kind::side},
    {"modules.json", Kind::side},
    {"params.json", Kind::side},
    {"configuration.json", Kind::side},
};

constexpr NameRow kBeginnings[] = {
    {"tokenizer", Kind::side}, {"readme", Kind::side}, {"license", Kind::side},
    {"notice", Kind::side},    {".git", Kind::side},
};

constexpr NameRow kEndings[] = {
    {".gguf", Kind::gguf},        {".safetensors", Kind::safetensors},
    {".index.json", Kind::index}, {"processor_config.json", Kind::side},
    {".json", Kind::json},        {".bin", Kind::pickle},
    {".pth", Kind::pickle},       {".pt", Kind::pickle},
    {".ckpt", Kind::pickle},      {".pkl", Kind::pickle},
    {".txt", Kind::side},         {".md", Kind::side},
    {".py", Kind::side},          {".jinja", Kind::side},
    {".yaml", Kind::side},        {".yml", Kind::side},
    {".model", Kind::side},       {".tiktoken", Kind::side},
    {".png", Kind::side},         {".jpg", Kind::side},
    {".jpeg", Kind::side},        {".svg", Kind::side},
    {".pdf", Kind::side},
};

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// Eight bytes of length below 4 GiB, then JSON: no text begins so, for it holds no zeros.
bool begins_as_safetensors(std::string_view head) {
  constexpr std::string_view kZeros("\0\0\0\0", 4);
  return head.size() > 8 && head.substr(4, 4) == kZeros && head[8] == '{';
}

/// PyTorch's archives are ZIP files; its older files begin with a pickle's protocol number.
bool begins_as_pickle(std::string_view head) {
  return begins_with(head, "PK\x03\x04") ||
         (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5);
}

bool begins_as_json(std::string_view head) {
  if (begins_with(head, "\xEF\xBB\xBF")) head.remove_prefix(3);
  const auto first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '{';
}

}  // namespace

Kind kind_by_name(std::string_view name) {
  const std::string lower = lower_case(name);
  for (const NameRow& row : kNames) {
    if (lower == row.text) return row.kind;
  }
  for (const NameRow& row : kBeginnings) {
    if (begins_with(lower, row.text)) return row.kind;
  }
  for (const NameRow& row : kEndings) {
    if (!ends_with(lower, row.text)) continue;
    if (row.kind == Kind::gguf && begins_with(lower, "mmproj")) return Kind::projector;
    if (row.kind == Kind::safetensors && begins_with(lower, "consolidated"))
      return Kind::consolidated;
    return row.kind;
  }
  return Kind::unknown;
}

Kind kind_by_content(Kind by_name, std::string_view head) {
  if (by_name == Kind::projector) return by_name;
  if (begins_with(head, "GGUF")) return Kind::gguf;
  if (by_name != Kind::unknown) return by_name;
  if (begins_as_safetensors(head)) return Kind::safetensors;
  if (begins_as_pickle(head)) return Kind::pickle;
  return begins_as_json(head) ? Kind::json : Kind::other;
}

Kind kind_by_members(const json::Value& document) {
  const auto has = [&](std::string_view key) { return document.find(key) != nullptr; };
  if (has("weight_map")) return Kind::index;
  if (has("model_type") || has("architectures") || has("peft_type")) return Kind::config;
  if (has("quant_method") || has("quantization") || has("w_bit")) return Kind::quantization;
  return Kind::other;
}

bool is_lfs_pointer(std::string_view head) { return begins_with(head, "version https://"); }

}  // namespace vramgauge::files
