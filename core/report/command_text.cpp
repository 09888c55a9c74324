#include "report/command_text.h"

#include <algorithm>

namespace vramgauge {
namespace {

constexpr std::string_view kOptionsFile = "extra_llm_api_options.yaml";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
}

/// A word that a shell reads as it is.
std::string quoted(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
    } else {
      out += c;
    }
  }
  return out + "'";
}

/// On one line: names come from users, and a Modelfile or script has no way to quote a line's end.
std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

std::string python_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : one_line(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string document(std::string_view file, const std::string& body) {
  return "cat > " + std::string(file) + " <<'EOF'\n" + body + "EOF";
}

/// Keys with points as nested YAML; keys of one group are taken to stand together.
std::string yaml(const std::vector<std::pair<std::string, std::string>>& options) {
  std::string out;
  std::vector<std::string> groups;
  for (const auto& [key, value] : options) {
    const auto point = key.find('.');
    if (point == std::string::npos) {
      out += key;
      out += ": " + value + "\n";
      continue;
    }
    const std::string group = key.substr(0, point);
    if (std::find(groups.begin(), groups.end(), group) != groups.end()) continue;
    groups.push_back(group);
    out += group + ":\n";
    for (const auto& [other, other_value] : options) {
      if (other.substr(0, point + 1) == group + ".")
        out += "  " + other.substr(point + 1) + ": " + other_value + "\n";
    }
  }
  return out;
}

std::string_view llama_cpp_program(std::string_view program) {
  if (program == "bench") return "llama-bench";
  return program == "api" ? "llama-cli" : "llama-server";
}

}  // namespace

void ShellText::set_model(std::string_view flag, std::string model) {
  model_flag_ = std::string(flag);
  model_ = std::move(model);
}

void ShellText::add(std::string_view name, std::string_view value) {
  const std::string bare(name.substr(std::min<std::string_view::size_type>(1, name.size())));
  if (name.front() == '$') {
    environment_.emplace_back(bare, value);
  } else if (name.front() == '-') {
    arguments_ += " \\\n  " + std::string(name);
    if (!value.empty()) arguments_ += " " + quoted(value);
  } else {
    parameters_.emplace_back(bare, one_line(value));
  }
}

/// The environment, the program and its arguments.
std::string ShellText::command(std::string_view start) const {
  std::string out;
  for (const auto& [name, value] : environment_)
    out.append(name).append("=").append(quoted(value)).append(" ");
  return out + std::string(start) + arguments_;
}

std::vector<CommandText> ShellText::ollama_lines() const {
  std::string body = "FROM " + one_line(model_) + "\n";
  for (const auto& [name, value] : parameters_)
    body.append("PARAMETER ").append(name).append(" ").append(value).append("\n");
  return {{"ollama serve", command("ollama serve")},
          {"Modelfile", document("Modelfile", body)},
          {"ollama", "ollama create MODEL_NAME -f Modelfile"}};
}

std::string ShellText::script() const {
  std::string load;
  std::string generate;
  std::string batch = "1";
  for (const auto& [name, value] : parameters_) {
    const std::string argument = ", " + name + "=";
    if (name == "batch_size") {
      batch = value;
    } else if (name == "max_length") {
      generate += argument + value;
    } else if (name == "cache_implementation") {
      generate += argument + python_text(value);
    } else if (name == "attn_implementation") {
      load += argument + python_text(value);
    } else if (name == "load_in_4bit" || name == "load_in_8bit") {
      load.append(", quantization_config=BitsAndBytesConfig(").append(name).append("=");
      load.append(value).append(")");
    } else {
      load += argument + value;
    }
  }
  return "import torch\n"
         "from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig\n\n"
         "name = " +
         python_text(model_) +
         "\ntokenizer = AutoTokenizer.from_pretrained(name, padding_side=\"left\")\n"
         "model = AutoModelForCausalLM.from_pretrained(name, device_map=\"auto\"" +
         load + ")\nprompts = [\"...\"] * " + batch +
         "\ninputs = tokenizer(prompts, return_tensors=\"pt\", padding=True).to(model.device)\n"
         "outputs = model.generate(**inputs" +
         generate + ")";
}

std::vector<CommandText> ShellText::lines() const {
  const std::string flagged = model_flag_ + " " + quoted(model_);
  switch (engine_) {
    case CommandEngine::vllm: return {{"vllm", command("vllm serve " + quoted(model_))}};
    case CommandEngine::sglang:
      return {{"sglang", command("python3 -m sglang.launch_server " + flagged)}};
    case CommandEngine::llama_cpp: {
      const std::string program(llama_cpp_program(program_));
      return {{program, command(program + " " + flagged)}};
    }
    case CommandEngine::ollama: return ollama_lines();
    case CommandEngine::transformers: return {{"transformers", script()}};
    case CommandEngine::tensorrt_llm: break;
  }
  std::vector<CommandText> out;
  std::string start = "trtllm-serve " + quoted(model_);
  if (!parameters_.empty()) {
    out.push_back({std::string(kOptionsFile), document(kOptionsFile, yaml(parameters_))});
    start += " \\\n  --extra_llm_api_options " + std::string(kOptionsFile);
  }
  out.push_back({"trtllm-serve", command(start)});
  return out;
}

}  // namespace vramgauge
