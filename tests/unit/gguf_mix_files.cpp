#include "gguf_mix_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace vramgauge::test {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

GgmlType type_named(const std::string& name) {
  const GgmlTypeInfo* info = find_ggml_type(std::string_view(name));
  if (info == nullptr) throw std::runtime_error("no type " + name);
  return info->type;
}

/// "0-3,7" as numbers; "-" stands for no layer.
std::vector<int64_t> layers_of(const std::string& text) {
  if (text == "-") return {-1};
  std::vector<int64_t> layers;
  for (const std::string& range : split(text, ',')) {
    const std::vector<std::string> ends = split(range, '-');
    for (int64_t i = std::stoll(ends.front()); i <= std::stoll(ends.back()); ++i)
      layers.push_back(i);
  }
  return layers;
}

std::string name_in_layer(const std::string& pattern, int64_t layer) {
  std::string name = pattern;
  const size_t star = name.find('*');
  if (star != std::string::npos) name.replace(star, 1, std::to_string(layer));
  return name;
}

void add_row(ListedModel& model, const std::vector<std::string>& cells) {
  ListedTensor listed;
  const std::vector<std::string> shape = split(cells.at(2), 'x');
  for (size_t i = 0; i < shape.size(); ++i)
    listed.tensor.dims.at(i) = std::stoull(shape[i]);
  for (size_t i = 0; i < model.quants.size(); ++i) {
    listed.types[model.quants[i]] = type_named(cells.at(3 + i));
  }
  for (const int64_t layer : layers_of(cells.at(1))) {
    listed.layer = layer;
    listed.tensor.name = name_in_layer(cells[0], layer);
    model.tensors.push_back(listed);
  }
}

void apply_metadata(ListedModel& model, std::map<std::string, std::string> metadata) {
  const auto number = [&metadata](const char* key) { return std::stoull(metadata.at(key)); };
  model.arch = metadata.at("arch");
  model.facts.num_layers = number("block_count");
  model.facts.num_experts = number("expert_count");
  const uint64_t kv_heads = number("head_count_kv");
  model.facts.heads_per_kv_head = kv_heads == 0 ? 0 : number("head_count") / kv_heads;
  model.facts.is_falcon = model.arch == "falcon";
  model.facts.is_70b =
      model.arch == "llama" && model.facts.num_layers == 80 && model.facts.heads_per_kv_head > 1;
  model.facts.wide = type_named(model.quants.at(0));
}

ListedModel read_model(const std::filesystem::path& path) {
  ListedModel model;
  model.name = path.stem().string();
  std::map<std::string, std::string> metadata;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.at(0) == "tensor") {
      model.quants.assign(cells.begin() + 3, cells.end());
    } else if (model.quants.empty()) {
      metadata[cells[0]] = cells.at(1);
    } else {
      add_row(model, cells);
    }
  }
  apply_metadata(model, std::move(metadata));
  return model;
}

std::filesystem::path folder() {
  return std::filesystem::path(VRAMGAUGE_TEST_DIR) / "data" / "gguf_tensors";
}

}  // namespace

std::vector<ListedModel> listed_models() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".tsv") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ListedModel> models;
  for (const std::filesystem::path& path : paths)
    models.push_back(read_model(path));
  return models;
}

ListedModel listed_model(const std::string& name) { return read_model(folder() / (name + ".tsv")); }

uint64_t listed_bytes(const GgufTensor& tensor, GgmlType type) {
  const CheckedU64 bytes =
      row_bytes(type, tensor.dims[0]) * tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
  return bytes.get().value();
}

std::vector<std::map<std::string, std::string>> read_table(const std::string& file) {
  std::ifstream stream(std::filesystem::path(VRAMGAUGE_TEST_DIR) / "data" / file);
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> cells = split(line, ',');
    if (names.empty()) {
      names = cells;
      continue;
    }
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < names.size() && i < cells.size(); ++i)
      row[names[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace vramgauge::test
