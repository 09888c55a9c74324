#include "import/model_name.h"

#include <algorithm>

#include "specs/engine_flags.h"

namespace vramgauge {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kGguf = ".gguf";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool ends_alike(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view without_end(std::string_view text, std::string_view end) {
  if (ends_alike(text, end)) text.remove_suffix(end.size());
  return text;
}

std::string_view last_part(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return slash == kNone ? path : path.substr(slash + 1);
}

std::string_view folder(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return slash == kNone ? std::string_view() : path.substr(0, slash);
}

void propose(ModelName& name, std::string candidate) {
  if (candidate.empty()) return;
  const bool is_known =
      std::find(name.candidates.begin(), name.candidates.end(), candidate) != name.candidates.end();
  if (!is_known) name.candidates.push_back(std::move(candidate));
}

/// "-00001-of-00003" off the end.
std::string_view without_shard(std::string_view stem) {
  const auto of = stem.rfind("-of-");
  if (of == kNone || stem.find_first_not_of("0123456789", of + 4) != kNone) return stem;
  const auto dash = stem.rfind('-', of == 0 ? 0 : of - 1);
  const bool is_shard =
      dash != kNone && dash + 1 < of &&
      stem.substr(dash + 1, of - dash - 1).find_first_not_of("0123456789") == kNone;
  return is_shard ? stem.substr(0, dash) : stem;
}

bool looks_like_format(std::string_view part) {
  if (part.size() < 2) return false;
  const bool is_iq = lower(part[0]) == 'i' && lower(part[1]) == 'q';
  const std::string_view rest = part.substr(is_iq ? 2 : 1);
  return (is_iq || lower(part[0]) == 'q') && !rest.empty() && rest[0] >= '0' && rest[0] <= '9' &&
         rest.size() > 1;
}

/// Takes a format off the end of a file's stem ("-Q4_K_M", ".Q8_0", "-UD-Q4_K_XL").
std::string_view take_format(ModelName& name, std::string_view stem) {
  const auto mark = stem.find_last_of("-.");
  if (mark == kNone || mark == 0) return stem;
  const std::string_view part = stem.substr(mark + 1);
  const std::string_view format = format_of_gguf_name(part);
  if (format.empty() && !looks_like_format(part)) return stem;
  name.weight_format = std::string(format);
  return without_end(stem.substr(0, mark), "-UD");
}

bool is_owner(std::string_view folder) {
  return !folder.empty() && folder != "." && folder != "..";
}

/// Names of a repository that holds GGUF files: quantisers add "-GGUF" and put the first owner
/// before the name.
void propose_gguf_repository(ModelName& name, std::string_view owner, std::string_view repository) {
  const std::string_view base =
      without_end(without_end(without_end(repository, "-GGUF"), "-i1"), "_gguf");
  if (is_owner(owner)) propose(name, std::string(owner) + "/" + std::string(base));
  const auto underscore = base.find('_');
  if (underscore != kNone && underscore != 0) {
    propose(name, std::string(base.substr(0, underscore)) + "/" +
                      std::string(base.substr(underscore + 1)));
  }
  propose(name, std::string(base));
}

void read_file(ModelName& name, std::string_view path) {
  name.is_gguf = true;
  const std::string_view stem =
      take_format(name, without_shard(without_end(last_part(path), kGguf)));
  const std::string_view parent = last_part(folder(path));
  propose_gguf_repository(name, parent, stem);
  // A folder per model, named like a repository.
  if (ends_alike(parent, "-GGUF"))
    propose_gguf_repository(name, last_part(folder(folder(path))), parent);
}

/// What stands behind the colon of "org/repo:Q4_K_M".
std::string_view take_tag(ModelName& name, std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == kNone || text.find('/', colon) != kNone) return text;
  std::string_view tag = text.substr(colon + 1);
  if (starts_with(tag, "UD-")) tag.remove_prefix(3);
  name.is_gguf = true;
  name.weight_format = std::string(format_of_gguf_name(tag));
  return text.substr(0, colon);
}

/// "org/repo" of a cache folder "models--org--repo", wherever it is in a path.
std::string cached_name(std::string_view path) {
  constexpr std::string_view kCache = "models--";
  const auto begin = path.find(kCache);
  if (begin == kNone) return {};
  const std::string_view rest = path.substr(begin + kCache.size());
  const std::string_view entry = rest.substr(0, rest.find('/'));
  const auto gap = entry.find("--");
  if (gap == kNone) return std::string(entry);
  return std::string(entry.substr(0, gap)) + "/" + std::string(entry.substr(gap + 2));
}

std::string_view without_hub(std::string_view text) {
  for (const std::string_view hub :
       {"https://huggingface.co/", "http://huggingface.co/", "huggingface.co/", "https://hf.co/",
        "hf.co/", "hf://", "docker.io/"}) {
    if (starts_with(text, hub)) return text.substr(hub.size());
  }
  return text;
}

void read_repository(ModelName& name, std::string_view path) {
  while (!path.empty() && path.back() == '/')
    path.remove_suffix(1);
  propose(name, cached_name(path));
  const std::string_view repository = last_part(path);
  const std::string_view owner = last_part(folder(path));
  name.is_gguf = name.is_gguf || ends_alike(repository, "-GGUF");
  if (name.is_gguf) return propose_gguf_repository(name, owner, repository);
  if (is_owner(owner)) propose(name, std::string(owner) + "/" + std::string(repository));
  propose(name, std::string(repository));
}

/// Takes the format off the end of an Ollama tag.
std::string_view take_tag_format(ModelName& name, std::string_view tag) {
  const auto dash = tag.rfind('-');
  const std::string_view last = dash == kNone ? tag : tag.substr(dash + 1);
  const std::string_view format = format_of_gguf_name(last);
  if (format.empty() && !looks_like_format(last)) return tag;
  name.weight_format = std::string(format);
  return dash == kNone ? std::string_view() : tag.substr(0, dash);
}

}  // namespace

ModelName model_name(std::string_view text) {
  ModelName name;
  name.text = std::string(text);
  const std::string_view path = without_hub(text);
  if (ends_alike(path, kGguf)) {
    read_file(name, path);
  } else {
    read_repository(name, take_tag(name, path));
  }
  return name;
}

ModelName ollama_model_name(std::string_view text) {
  const bool is_elsewhere = text.find('/') != kNone && !starts_with(text, "library/");
  if (is_elsewhere || ends_alike(text, kGguf)) return model_name(text);
  ModelName name;
  name.text = std::string(text);
  name.is_gguf = true;
  std::string_view rest = text;
  if (starts_with(rest, "library/")) rest = last_part(rest);
  const std::string base(take_part(rest, ':'));
  const std::string_view tag = take_tag_format(name, rest);
  if (!tag.empty() && tag != "latest") {
    propose(name, base + " " + std::string(tag));
    propose(name, base + " " + std::string(tag.substr(0, tag.find('-'))));
  } else {
    propose(name, base);
  }
  return name;
}

}  // namespace vramgauge
