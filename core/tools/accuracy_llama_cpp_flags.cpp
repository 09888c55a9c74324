#include "accuracy_llama_cpp_flags.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "units/ggml_types.h"

namespace vramgauge::tools {
namespace {

std::optional<GgmlType> cache_type(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  const GgmlTypeInfo* info = find_ggml_type(upper);
  if (info == nullptr) return std::nullopt;
  return info->type;
}

/// Reads the flag columns of one row; `reason` says what cannot be read.
class RowOptions {
 public:
  RowOptions(const TruthTable& table, uint64_t row) : table_(table), row_(row) {}

  bool read() {
    options_.program = LlamaCppProgram::api;
    options_.kv_unified = read_number("kv_unified") != 0;
    options_.swa_full = read_number("swa_full") != 0;
    options_.ctx_tokens = read_number("ctx");
    options_.n_seq_max = read_number("n_seq_max");
    options_.n_batch = read_number("n_batch");
    options_.n_ubatch = read_number("n_ubatch");
    options_.n_outputs_max = read_number("n_outputs_max");
    const auto layers = table_.integer(row_, "n_gpu_layers");
    if (!layers) reason_ = "n_gpu_layers is no number";
    options_.n_gpu_layers = layers.value_or(0);
    options_.type_k = read_type("type_k");
    options_.type_v = read_type("type_v");
    read_flash_attention();
    read_extra_arguments();
    return reason_.empty();
  }

  LlamaCppOptions& options() { return options_; }
  const std::string& reason() const { return reason_; }

 private:
  uint64_t read_number(std::string_view column) {
    const auto value = table_.number(row_, column);
    if (!value) reason_ = std::string(column) + " is no number";
    return value.value_or(0);
  }

  GgmlType read_type(std::string_view column) {
    const auto type = cache_type(table_.cell(row_, column));
    if (!type) reason_ = std::string(column) + " is not a known type";
    return type.value_or(GgmlType::f16);
  }

  void read_flash_attention() {
    const std::string_view text = table_.cell(row_, "flash_attn");
    if (text == "on") {
      options_.flash_attn = LlamaCppFlashAttention::on;
    } else if (text == "off") {
      options_.flash_attn = LlamaCppFlashAttention::off;
    } else if (text != "auto") {
      reason_ = "flash_attn is none of on, off, auto";
    }
  }

  void read_extra_arguments() {
    for (const std::string_view part : split_text(table_.cell(row_, "extra_args"), ' ')) {
      const std::size_t equals = std::min(part.find('='), part.size());
      const std::string_view value = part.substr(std::min(equals + 1, part.size()));
      if (!read_argument(part.substr(0, equals), value))
        reason_ = "the argument " + std::string(part) + " is not known";
    }
  }

  bool read_argument(std::string_view name, std::string_view value) {
    if (name == "gpus") return read_devices(value);
    if (name == "ts") return read_split(value);
    const auto number = parse_integer(value);
    if (!number || *number < 0) return false;
    if (name == "ncmoe") {
      options_.n_cpu_moe = static_cast<uint64_t>(*number);
    } else if (name == "kvo") {
      options_.offload_kv = *number != 0;
    } else if (name == "opo") {
      options_.offload_ops = *number != 0;
    } else {
      return false;
    }
    return true;
  }

  /// Sizes in GiB, one per device.
  bool read_devices(std::string_view list) {
    for (const std::string_view part : split_text(list, ',')) {
      const auto gib = parse_integer(part);
      if (!gib || *gib <= 0 || *gib > 1'000'000) return false;
      options_.devices.push_back(
          {"GPU" + std::to_string(options_.devices.size()), GiB(static_cast<uint64_t>(*gib))});
    }
    return true;
  }

  bool read_split(std::string_view list) {
    for (const std::string_view part : split_text(list, ',')) {
      const std::string text(part);
      char* end = nullptr;
      options_.tensor_split.push_back(std::strtof(text.c_str(), &end));
      if (end == text.c_str() || *end != '\0') return false;
    }
    return true;
  }

  const TruthTable& table_;
  uint64_t row_;
  LlamaCppOptions options_;
  std::string reason_;
};

}  // namespace

std::optional<LlamaCppOptions> read_llama_cpp_flags(const TruthTable& table, uint64_t row,
                                                    std::string& reason) {
  RowOptions options(table, row);
  if (options.read()) return std::move(options.options());
  reason = options.reason();
  return std::nullopt;
}

}  // namespace vramgauge::tools
