// Models from sets of files: in pieces, in any order, cut off, lying, mixed.
#include "import/model_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "import/model_files_shards.h"
#include "support/small_models.h"

namespace vramgauge {
namespace {

using testing::MemoryFile;
using testing::SmallGguf;

enum class Order { forward, backward, scattered };

struct Serving {
  uint64_t piece_bytes = UINT64_MAX;
  Order order = Order::forward;
  bool gives_sizes = true;
};

/// Answers what is wanted from files in memory, and counts.
class Server {
 public:
  Server(std::vector<MemoryFile> files, Serving serving)
      : files_(std::move(files)), serving_(serving), reading_(nullptr) {
    for (const MemoryFile& file : files_) {
      const auto size =
          serving.gives_sizes ? std::optional<uint64_t>(file.bytes.size()) : std::nullopt;
      reading_.add_file(file.name, size);
    }
  }

  Result<ImportedFiles> run() {
    for (auto wanted = reading_.wanted(); !wanted.empty(); wanted = reading_.wanted()) {
      if (++num_rounds_ > kMaxRounds) return fail(ErrorCode::api_internal, "");
      for (const FileRange& range : wanted)
        serve(range);
    }
    return reading_.finish();
  }

  uint64_t num_rounds() const { return num_rounds_; }
  uint64_t served_bytes() const { return served_bytes_; }
  ModelFiles& reading() { return reading_; }

 private:
  static constexpr uint64_t kMaxRounds = 100'000;

  std::string_view bytes_of(const FileRange& range) const {
    const std::string_view bytes = files_[static_cast<size_t>(range.file)].bytes;
    if (range.offset_bytes >= bytes.size()) return {};
    return bytes.substr(static_cast<size_t>(range.offset_bytes),
                        static_cast<size_t>(range.length_bytes));
  }

  void serve(const FileRange& range) {
    const std::string_view bytes = bytes_of(range);
    served_bytes_ += bytes.size();
    std::vector<uint64_t> offsets;
    for (uint64_t at = 0; at < bytes.size(); at += serving_.piece_bytes) {
      offsets.push_back(at);
      if (bytes.size() - at <= serving_.piece_bytes) break;
    }
    if (offsets.empty()) offsets.push_back(0);
    if (serving_.order == Order::backward) std::reverse(offsets.begin(), offsets.end());
    if (serving_.order == Order::scattered) scatter(offsets);
    for (const uint64_t at : offsets) {
      const std::string_view piece =
          bytes.substr(static_cast<size_t>(at), static_cast<size_t>(serving_.piece_bytes));
      reading_.feed(range.file, range.offset_bytes + at, piece);
    }
  }

  static void scatter(std::vector<uint64_t>& offsets) {
    std::stable_partition(offsets.begin(), offsets.end(), [&](const uint64_t& offset) {
      return (&offset - offsets.data()) % 3 == 1;
    });
  }

  std::vector<MemoryFile> files_;
  Serving serving_;
  ModelFiles reading_;
  uint64_t num_rounds_ = 0;
  uint64_t served_bytes_ = 0;
};

Result<ImportedFiles> import(std::vector<MemoryFile> files, Serving serving = {}) {
  return Server(std::move(files), serving).run();
}

/// The code of the only error, or of the internal error when there is none.
ErrorCode error_of(std::vector<MemoryFile> files, Serving serving = {}) {
  const auto result = import(std::move(files), serving);
  return result ? ErrorCode::api_internal : result.error().front().code;
}

std::vector<ErrorCode> warnings_of(const ImportedFiles& files) {
  std::vector<ErrorCode> codes;
  for (const Diagnostic& warning : files.model.warnings)
    codes.push_back(warning.code);
  return codes;
}

uint64_t stored_bytes(const ImportedFiles& files) {
  uint64_t bytes = 0;
  for (const StoredWeight& tensor : files.stored.value().tensors)
    bytes += tensor.count * tensor.bytes;
  return bytes;
}

std::vector<MemoryFile> small_checkpoint(uint64_t count) {
  std::vector<MemoryFile> files = {{"config.json", testing::small_config()}};
  for (uint64_t i = 0; i < count; ++i)
    files.push_back({testing::shard_name(i, count), testing::small_safetensors(i, count)});
  return files;
}

std::vector<MemoryFile> split_gguf(uint64_t count) {
  std::vector<MemoryFile> files;
  for (uint64_t i = 0; i < count; ++i)
    files.push_back({"m-" + std::to_string(i) + ".gguf", testing::small_gguf({i, count})});
  return files;
}

constexpr Serving kServings[] = {
    {},
    {UINT64_MAX, Order::forward, false},
    {1, Order::forward, true},
    {1, Order::forward, false},
    {7, Order::backward, true},
    {1000, Order::backward, false},
    {997, Order::scattered, true},
    {4096, Order::scattered, false},
};

TEST(ModelFiles, OneGgufIsTheSameInAnyPieces) {
  for (const Serving& serving : kServings) {
    const auto read = import({{"/a/b/model.gguf", testing::small_gguf()}}, serving);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->model.spec.layers.size(), 2U);
    EXPECT_EQ(read->model.spec.model_type, "llama");
    EXPECT_EQ(read->stored->container, StoredModel::Container::gguf);
    EXPECT_EQ(stored_bytes(*read), testing::small_gguf_tensor_bytes());
    EXPECT_FALSE(read->is_total_only);
    EXPECT_TRUE(warnings_of(*read).empty());
  }
}

TEST(ModelFiles, SplitGgufIsTheSumOfItsFiles) {
  for (const Serving& serving : kServings) {
    auto files = split_gguf(3);
    std::swap(files[0], files[2]);
    const auto read = import(std::move(files), serving);
    ASSERT_TRUE(read);
    EXPECT_EQ(stored_bytes(*read), testing::small_gguf_tensor_bytes());
  }
}

TEST(ModelFiles, CheckpointIsTheSumOfItsShards) {
  for (const Serving& serving : kServings) {
    const auto read = import(small_checkpoint(4), serving);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->model.spec.vocab_size, 100U);
    EXPECT_EQ(read->stored->container, StoredModel::Container::safetensors);
    EXPECT_EQ(stored_bytes(*read), testing::small_safetensors_bytes());
    EXPECT_TRUE(warnings_of(*read).empty());
  }
}

TEST(ModelFiles, ConfigurationAloneHasNoTensors) {
  for (const Serving& serving : kServings) {
    const auto read = import({{"config.json", testing::small_config()}}, serving);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->model.spec.hidden_size, 64U);
    EXPECT_FALSE(read->stored);
  }
}

TEST(ModelFiles, IndexAloneGivesTheTotal) {
  for (const Serving& serving : kServings) {
    const auto read = import({{"model.safetensors.index.json", testing::small_index(4)},
                              {"config.json", testing::small_config()}},
                             serving);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->is_total_only);
    EXPECT_EQ(stored_bytes(*read), testing::small_safetensors_bytes());
    EXPECT_EQ(warnings_of(*read), std::vector{ErrorCode::import_total_only});
  }
}

TEST(ModelFiles, IndexAndShardsMustAgree) {
  auto files = small_checkpoint(4);
  files.push_back({"model.safetensors.index.json", testing::small_index(4)});
  EXPECT_TRUE(import(files));
  auto fewer = files;
  fewer.erase(fewer.begin() + 2);
  EXPECT_EQ(error_of(fewer), ErrorCode::safetensors_shard_missing);
  // An engine reads the files that the index names and no others.
  auto more = files;
  more.push_back(
      {"extra.safetensors",
       testing::safetensors_file(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4)});
  const auto read = import(more);
  ASSERT_TRUE(read);
  EXPECT_EQ(stored_bytes(*read), testing::small_safetensors_bytes());
  EXPECT_EQ(warnings_of(*read), std::vector{ErrorCode::import_ignored});
}

TEST(ModelFiles, FilesAreKnownByTheirContentToo) {
  const auto gguf = import({{"sha256-0123", testing::small_gguf()}});
  ASSERT_TRUE(gguf);
  EXPECT_EQ(stored_bytes(*gguf), testing::small_gguf_tensor_bytes());
  const auto named_otherwise = import({{"model.safetensors", testing::small_gguf()}});
  EXPECT_TRUE(named_otherwise);
  const auto checkpoint =
      import({{"weights", testing::small_safetensors()}, {"mine.json", testing::small_config()}});
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(stored_bytes(*checkpoint), testing::small_safetensors_bytes());
  const auto config = import({{"", "\xEF\xBB\xBF\n " + testing::small_config()}});
  EXPECT_TRUE(config);
  const auto index =
      import({{"download (1).json", testing::small_index(2)}, {"c.json", testing::small_config()}});
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->is_total_only);
}

TEST(ModelFiles, QuantisationBesideTheConfigurationIsRead) {
  const char* gptq = R"({"bits":4,"group_size":128,"desc_act":false,"sym":true})";
  const char* awq = R"({"zero_point":true,"q_group_size":64,"w_bit":4,"version":"GEMM"})";
  const char* modelopt =
      R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"FP8","exclude_modules":["lm_head"]}})";
  const std::pair<MemoryFile, const char*> kCases[] = {
      {{"quantize_config.json", gptq}, "gptq"},
      {{"quant_config.json", awq}, "awq"},
      {{"hf_quant_config.json", modelopt}, "modelopt"}};
  for (const auto& [file, method] : kCases) {
    const auto read = import({{"config.json", testing::small_config()}, file});
    ASSERT_TRUE(read) << method;
    ASSERT_TRUE(read->quantization) << method;
    EXPECT_EQ(read->quantization->method, method);
  }
  EXPECT_EQ(error_of({{"quantize_config.json", gptq}}), ErrorCode::import_file_missing);
}

TEST(ModelFiles, QuantisationThatIsNotUnderstoodLeavesTheModel) {
  const auto read = import({{"config.json", testing::small_config()},
                            {"quantize_config.json", R"({"quant_method":"novel"})"}});
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->quantization);
  EXPECT_EQ(read->refused_method, "novel");
  ASSERT_EQ(read->refused_quantization.size(), 1U);
  EXPECT_EQ(read->refused_quantization.front().code, ErrorCode::format_unknown_quantization);
}

TEST(ModelFiles, AFolderIsReadAsItIs) {
  auto files = small_checkpoint(2);
  for (const char* name : {"tokenizer.json", "README.md", "generation_config.json", "merges.txt"})
    files.push_back({name, "anything"});
  EXPECT_TRUE(warnings_of(import(files).value()).empty());
  files.push_back({"consolidated.safetensors", testing::small_safetensors()});
  files.push_back({"pytorch_model.bin", "anything"});
  files.push_back({"what.is.this", "anything at all, not a model"});
  const auto read = import(files);
  ASSERT_TRUE(read);
  EXPECT_EQ(stored_bytes(*read), testing::small_safetensors_bytes());
  EXPECT_EQ(warnings_of(*read),
            (std::vector{ErrorCode::safetensors_duplicates_ignored, ErrorCode::import_ignored}));
}

TEST(ModelFiles, ConsolidatedAloneIsRead) {
  const auto read = import({{"config.json", testing::small_config()},
                            {"consolidated.safetensors", testing::small_safetensors()}});
  ASSERT_TRUE(read);
  EXPECT_EQ(stored_bytes(*read), testing::small_safetensors_bytes());
}

TEST(ModelFiles, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(error_of({}), ErrorCode::import_nothing);
  EXPECT_EQ(error_of({{"tokenizer.json", "{}"}}), ErrorCode::import_nothing);
  EXPECT_EQ(error_of({{"notes", "just a text, nothing else"}}), ErrorCode::import_unknown_file);
  EXPECT_EQ(error_of({{"x.json", "{\"a\":1}"}}), ErrorCode::import_unknown_file);
  EXPECT_EQ(error_of({{"pytorch_model.bin", "PK"}}), ErrorCode::import_pickle);
  EXPECT_EQ(error_of({{"weights", std::string("PK\x03\x04 an archive of PyTorch")}}),
            ErrorCode::import_pickle);
  EXPECT_EQ(error_of({{"old", std::string("\x80\x02\x8a\x0al\xfc\x9c"
                                          "F\xf9 j\xa8P\x19.",
                                          16)}}),
            ErrorCode::import_pickle);
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
  EXPECT_EQ(error_of({{"m.gguf", pointer}}), ErrorCode::import_lfs_pointer);
  EXPECT_EQ(error_of({{"m.safetensors", pointer}}), ErrorCode::import_lfs_pointer);
  EXPECT_EQ(error_of({{"m.gguf", "<!doctype html><title>Sign in</title>"}}),
            ErrorCode::gguf_bad_magic);
  EXPECT_EQ(error_of({{"m.safetensors", "<!doctype html><title>Sign in</title>"}}),
            ErrorCode::safetensors_header_too_large);
  EXPECT_EQ(error_of({{"config.json", ""}}), ErrorCode::json_empty);
  EXPECT_EQ(error_of({{"m.gguf", ""}}), ErrorCode::gguf_header_incomplete);
  EXPECT_EQ(error_of({{"m.safetensors", ""}}), ErrorCode::safetensors_header_incomplete);
}

TEST(ModelFiles, WeightsWithoutAConfigurationAreNotGuessed) {
  const auto read = import({{"model.safetensors", testing::small_safetensors()}});
  ASSERT_FALSE(read);
  const Diagnostic& error = read.error().front();
  EXPECT_EQ(error.code, ErrorCode::import_no_config);
  EXPECT_NE(message_of(error).find(std::to_string(testing::small_safetensors_bytes())),
            std::string::npos);
  EXPECT_EQ(error_of({{"model.safetensors.index.json", testing::small_index(2)}}),
            ErrorCode::import_no_config);
}

TEST(ModelFiles, MissingFilesAreNamed) {
  auto files = small_checkpoint(4);
  files.erase(files.begin() + 3);
  const auto shard = import(files);
  ASSERT_FALSE(shard);
  EXPECT_EQ(shard.error().front().code, ErrorCode::import_file_missing);
  EXPECT_NE(message_of(shard.error().front()).find("model-00003-of-00004.safetensors"),
            std::string::npos);
  auto split = split_gguf(3);
  split.erase(split.begin() + 1);
  EXPECT_EQ(error_of(split), ErrorCode::gguf_shard_missing);
  // A file of another name, with the tensors of some layers only.
  const std::string norm =
      R"({"model.layers.0.input_layernorm.weight":{"dtype":"BF16","shape":[64],"data_offsets":[0,128]}})";
  EXPECT_EQ(error_of({{"config.json", testing::small_config()},
                      {"part.safetensors", testing::safetensors_file(norm, 128)}}),
            ErrorCode::import_layers_missing);
}

TEST(ModelFiles, ModelsAreNotMixed) {
  EXPECT_EQ(error_of({{"a.gguf", testing::small_gguf()}, {"b.gguf", testing::small_gguf()}}),
            ErrorCode::import_several_models);
  EXPECT_EQ(error_of({{"a.gguf", testing::small_gguf()},
                      {"model.safetensors", testing::small_safetensors()}}),
            ErrorCode::import_several_models);
  EXPECT_EQ(error_of({{"a.json", testing::small_config()}, {"b.json", testing::small_config()}}),
            ErrorCode::import_several_models);
  EXPECT_EQ(error_of({{"x/config.json", testing::small_config()},
                      {"y/config.json", testing::small_config()}}),
            ErrorCode::import_duplicate_file);
  EXPECT_EQ(error_of({{"config.json", testing::small_config()},
                      {"a.safetensors", testing::small_safetensors()},
                      {"b.safetensors", testing::small_safetensors()}}),
            ErrorCode::safetensors_duplicate);
  auto other = split_gguf(2);
  other[1].bytes = testing::small_gguf({1, 3});
  EXPECT_EQ(error_of(other), ErrorCode::gguf_shard_conflict);
}

TEST(ModelFiles, AdaptersAreNotModels) {
  const std::string lora = testing::safetensors_file(
      R"({"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight":)"
      R"({"dtype":"F32","shape":[8,64],"data_offsets":[0,2048]}})",
      2048);
  EXPECT_EQ(error_of({{"adapter_config.json", R"({"peft_type":"LORA","r":8})"}}),
            ErrorCode::model_adapter);
  EXPECT_EQ(error_of({{"adapter_model.safetensors", lora}}), ErrorCode::model_adapter);
  EXPECT_EQ(
      error_of({{"config.json", testing::small_config()}, {"adapter_model.safetensors", lora}}),
      ErrorCode::model_adapter);
}

TEST(ModelFiles, AVisionProjectorBesideAModelIsPassedOver) {
  const auto read =
      import({{"mmproj-model.gguf", testing::small_gguf()}, {"model.gguf", testing::small_gguf()}});
  ASSERT_TRUE(read);
  EXPECT_EQ(warnings_of(*read), std::vector{ErrorCode::import_ignored});
}

// --- Reading ---

TEST(ModelFiles, OnlyHeadersAreWanted) {
  // 16 MiB of vocabulary; the tensors are not there at all, their place is.
  const SmallGguf shape{0, 1, 262'144, 56};
  const uint64_t header = testing::small_gguf_header_bytes(shape);
  Server server({{"model.gguf", testing::small_gguf(shape)}}, {});
  ASSERT_TRUE(server.run());
  EXPECT_GE(server.served_bytes(), header - 32);
  // Windows double: at most the header once more, and no more than 8 MiB beyond it.
  EXPECT_LE(server.served_bytes(), header + (uint64_t{8} << 20));
  EXPECT_LE(server.num_rounds(), 6U);
}

TEST(ModelFiles, SplitOf400GigabytesNeedsOnlyItsHeaders) {
  ModelFiles reading(nullptr);
  const std::string one = testing::small_gguf({0, 2});
  const std::string two = testing::small_gguf({1, 2});
  reading.add_file("m-00001-of-00002.gguf", uint64_t{200'000'000'000});
  reading.add_file("m-00002-of-00002.gguf", uint64_t{200'000'000'000});
  EXPECT_EQ(reading.wanted(), (std::vector<FileRange>{{0, 0, 1 << 20}, {1, 0, 1 << 20}}));
  EXPECT_TRUE(reading.feed(0, 0, one).empty());
  EXPECT_TRUE(reading.feed(1, 0, two).empty());
  EXPECT_TRUE(reading.wanted().empty());
  EXPECT_TRUE(reading.finish());
}

TEST(ModelFiles, ShortPiecesAreAskedForAgain) {
  ModelFiles reading(nullptr);
  const std::string file = testing::small_safetensors();
  reading.add_file("model.safetensors", file.size());
  reading.add_file("config.json", std::nullopt);
  const uint64_t first = reading.wanted().front().length_bytes;
  EXPECT_TRUE(reading.feed(0, 0, std::string_view(file).substr(0, 100)).empty());
  EXPECT_EQ(reading.wanted().front(), (FileRange{0, 100, first - 100}));
  // A piece that comes before its turn is kept: what is wanted ends where it begins.
  EXPECT_TRUE(reading.feed(0, 500, std::string_view(file).substr(500, 100)).empty());
  EXPECT_EQ(reading.wanted().front(), (FileRange{0, 100, 400}));
  // The same piece again, and one that laps over what is there, change nothing.
  EXPECT_TRUE(reading.feed(0, 500, std::string_view(file).substr(500, 100)).empty());
  EXPECT_TRUE(reading.feed(0, 0, std::string_view(file).substr(0, 200)).empty());
  EXPECT_EQ(reading.wanted().front(), (FileRange{0, 200, 300}));
  EXPECT_TRUE(reading.feed(0, 200, std::string_view(file).substr(200, 300)).empty());
  EXPECT_EQ(reading.wanted().front().offset_bytes, 600U);
}

TEST(ModelFiles, WhatWasNotWantedIsRefused) {
  ModelFiles reading(nullptr);
  reading.add_file("model.gguf", std::nullopt);
  reading.add_file("tokenizer.json", std::nullopt);
  const std::string mebibyte(1 << 20, 'x');
  const auto code = [](const Diagnostics& errors) {
    return errors.empty() ? ErrorCode::api_internal : errors.front().code;
  };
  EXPECT_EQ(code(reading.feed(2, 0, "GGUF")), ErrorCode::import_not_wanted);
  EXPECT_EQ(code(reading.feed(1, 0, "{}")), ErrorCode::import_not_wanted);
  EXPECT_EQ(code(reading.feed(0, 1, mebibyte)), ErrorCode::import_not_wanted);
  EXPECT_EQ(code(reading.feed(0, UINT64_MAX, "GGUF")), ErrorCode::import_not_wanted);
  EXPECT_EQ(reading.wanted().front(), (FileRange{0, 0, 1 << 20}));
}

TEST(ModelFiles, UnfinishedIsSaid) {
  ModelFiles reading(nullptr);
  reading.add_file("model.gguf", std::nullopt);
  reading.feed(0, 0, std::string_view(testing::small_gguf()).substr(0, 20));
  EXPECT_EQ(reading.finish().error().front().code, ErrorCode::import_incomplete);
  // Afterwards there is nothing left.
  EXPECT_EQ(reading.finish().error().front().code, ErrorCode::import_nothing);
}

TEST(ModelFiles, SizesThatLieAreFound) {
  const std::string gguf = testing::small_gguf();
  const auto read = [](std::string_view name, std::string_view bytes, uint64_t size) {
    ModelFiles reading(nullptr);
    reading.add_file(name, size);
    for (auto wanted = reading.wanted(); !wanted.empty(); wanted = reading.wanted()) {
      const FileRange range = wanted.front();
      const auto at = std::min(bytes.size(), static_cast<size_t>(range.offset_bytes));
      reading.feed(0, range.offset_bytes,
                   bytes.substr(at, static_cast<size_t>(range.length_bytes)));
    }
    const auto result = reading.finish();
    return result ? ErrorCode::api_internal : result.error().front().code;
  };
  const uint64_t header = testing::small_gguf_header_bytes();
  // Shorter than the header, than the data; longer than what there is.
  EXPECT_EQ(read("m.gguf", gguf, 100), ErrorCode::gguf_header_incomplete);
  EXPECT_EQ(read("m.gguf", gguf, header + 100), ErrorCode::gguf_file_too_short);
  EXPECT_EQ(read("m.gguf", gguf.substr(0, 100), gguf.size()), ErrorCode::import_wrong_size);
  const std::string weights = testing::small_safetensors();
  EXPECT_EQ(read("m.safetensors", weights, 5), ErrorCode::safetensors_header_incomplete);
  EXPECT_EQ(read("m.safetensors", weights, 100), ErrorCode::safetensors_header_incomplete);
  EXPECT_EQ(read("m.safetensors", weights, weights.size() - 1),
            ErrorCode::safetensors_wrong_length);
  EXPECT_EQ(read("m.safetensors", weights.substr(0, 100), weights.size()),
            ErrorCode::import_wrong_size);
  EXPECT_EQ(read("config.json", testing::small_config(), 20), ErrorCode::json_syntax);
  EXPECT_EQ(read("config.json", testing::small_config(), 9'000), ErrorCode::import_wrong_size);
  EXPECT_EQ(read("config.json", testing::small_config(), UINT64_MAX), ErrorCode::json_too_large);
}

TEST(ModelFiles, ASizeMayComeLater) {
  const std::string gguf = testing::small_gguf();
  for (const bool is_right : {true, false}) {
    ModelFiles reading(nullptr);
    reading.add_file("m.gguf", std::nullopt);
    reading.feed(0, 0, gguf);
    EXPECT_EQ(reading.set_size(0, is_right ? gguf.size() : gguf.size() - 1).empty(), is_right);
    EXPECT_EQ(reading.finish().has_value(), is_right);
  }
  ModelFiles config(nullptr);
  config.add_file("config.json", std::nullopt);
  EXPECT_TRUE(config.feed(0, 0, testing::small_config()).empty());
  EXPECT_FALSE(config.wanted().empty());
  EXPECT_TRUE(config.set_size(0, testing::small_config().size()).empty());
  EXPECT_TRUE(config.wanted().empty());
  EXPECT_TRUE(config.finish());
}

TEST(ModelFiles, EveryCutIsAnErrorOfItsOwn) {
  const std::string gguf = testing::small_gguf();
  const uint64_t header = testing::small_gguf_header_bytes();
  for (size_t length = 0; length < header; length += 13)
    EXPECT_NE(error_of({{"m.gguf", gguf.substr(0, length)}}), ErrorCode::api_internal) << length;
  const std::string weights = testing::small_safetensors();
  const uint64_t weights_header = safetensors_header_length(weights).value();
  for (size_t length = 0; length < weights_header + 100; length += 41) {
    EXPECT_NE(error_of({{"config.json", testing::small_config()},
                        {"m.safetensors", weights.substr(0, length)}}),
              ErrorCode::api_internal)
        << length;
  }
}

TEST(ModelFiles, TooManyFilesAreRefused) {
  ModelFiles reading(nullptr);
  for (uint64_t i = 0; i <= ModelFiles::kMaxFiles; ++i)
    reading.add_file("tokenizer.json", 10);
  EXPECT_TRUE(reading.wanted().empty());
  EXPECT_EQ(reading.finish().error().front().code, ErrorCode::import_too_many_files);
}

TEST(ModelFiles, ErrorsSayWhere) {
  std::string config = testing::small_config();
  config.replace(config.find("\"num_key_value_heads\":2"), 23, "\n\"num_key_value_heads\":3");
  const auto alone = import({{"config.json", config}});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().front().path, "/num_key_value_heads");
  ASSERT_TRUE(alone.error().front().at);
  EXPECT_EQ(alone.error().front().at->line, 2U);
  const auto beside =
      import({{"config.json", config}, {"model.safetensors", testing::small_safetensors()}});
  ASSERT_FALSE(beside);
  EXPECT_EQ(beside.error().front().path, "/config.json/num_key_value_heads");
}

TEST(ModelFiles, ManyGapsAreBounded) {
  // Every other byte first: what cannot be kept is wanted again.
  const std::string file = testing::small_safetensors();
  ModelFiles reading(nullptr);
  reading.add_file("model.safetensors", file.size());
  for (size_t at = 1; at < 4000; at += 2)
    reading.feed(0, at, std::string_view(file).substr(at, 1));
  while (!reading.wanted().empty()) {
    const FileRange range = reading.wanted().front();
    ASSERT_TRUE(reading
                    .feed(0, range.offset_bytes,
                          std::string_view(file).substr(static_cast<size_t>(range.offset_bytes),
                                                        static_cast<size_t>(range.length_bytes)))
                    .empty());
  }
  EXPECT_EQ(reading.finish().error().front().code, ErrorCode::import_no_config);
}

TEST(ModelFilesShards, TheFirstGapIsNamed) {
  using files::missing_shard;
  EXPECT_FALSE(missing_shard({}));
  EXPECT_FALSE(missing_shard({"model.safetensors", "a-of-b", "-of-", "x-1-of-"}));
  EXPECT_FALSE(missing_shard({"m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"}));
  EXPECT_EQ(missing_shard({"m-00002-of-00002.x"}), "m-00001-of-00002.x");
  EXPECT_EQ(missing_shard({"m-1-of-3.x", "m-2-of-3.x"}), "m-3-of-3.x");
  EXPECT_EQ(missing_shard({"m-00001-of-999999999.x"}), "m-000000001-of-999999999.x");
}

}  // namespace
}  // namespace vramgauge
