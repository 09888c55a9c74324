/** What names and addresses mean, and what of a repository is read. Without a browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { load_module } from "./bundle.mjs";

const { parse_base, parse_target } = await load_module("src/import/hub_target.ts");
const { check_parts, find_variants } = await load_module("src/import/choose.ts");
const { lone_config, readable_files } = await load_module("src/import/chosen_files.ts");

const kBase = "https://huggingface.co";
const target = (text, base = kBase) => {
  const { kind, base: at, id, revision, path, tag, url } = parse_target(text, base);
  return kind === "file" ? url : [at, id, revision, path, tag].join(" | ");
};
const code_of = (action) => {
  try {
    return action() && "nothing thrown";
  } catch (failure) {
    return failure.code;
  }
};

test("names and addresses of models", () => {
  const meanings = {
    "Qwen/Qwen3-8B": "https://huggingface.co | Qwen/Qwen3-8B | main |  | ",
    "  gpt2 ": "https://huggingface.co | gpt2 | main |  | ",
    "org/name:Q4_K_M": "https://huggingface.co | org/name | main |  | Q4_K_M",
    "org/name@v1.0": "https://huggingface.co | org/name | v1.0 |  | ",
    "org/name@v1.0:Q8_0": "https://huggingface.co | org/name | v1.0 |  | Q8_0",
    "org/name/sub/file.gguf": "https://huggingface.co | org/name | main | sub/file.gguf | ",
    "hf.co/org/name:Q4_0": "https://huggingface.co | org/name | main |  | Q4_0",
    "https://huggingface.co/org/name/": "https://huggingface.co | org/name | main |  | ",
    "https://hf-mirror.com/org/name/tree/main/UD-Q4":
      "https://hf-mirror.com | org/name | main | UD-Q4 | ",
    "https://huggingface.co/org/name/blob/main/a-Q4_0.gguf":
      "https://huggingface.co | org/name | main | a-Q4_0.gguf | ",
    "https://huggingface.co/org/name/resolve/refs%2Fpr%2F1/x/a.gguf?download=true":
      "https://huggingface.co | org/name | refs/pr/1 | x/a.gguf | ",
    "https://huggingface.co/org/name/discussions/3":
      "https://huggingface.co | org/name | main |  | ",
    "https://modelscope.cn/models/Qwen/Qwen3-8B/summary":
      "https://modelscope.cn | Qwen/Qwen3-8B | master |  | ",
    "https://www.modelscope.cn/models/Qwen/Qwen3-8B/file/view/master/config.json?status=1":
      "https://modelscope.cn | Qwen/Qwen3-8B | master | config.json | ",
    "https://modelscope.cn/models/o/n/resolve/v2/a.gguf":
      "https://modelscope.cn | o/n | v2 | a.gguf | ",
    "https://files.example.org/llm/a-Q4_0.gguf": "https://files.example.org/llm/a-Q4_0.gguf",
    "http://localhost:9000/o/n": "http://localhost:9000 | o/n | main |  | ",
  };
  for (const [text, meaning] of Object.entries(meanings)) assert.equal(target(text), meaning, text);
});

test("the chosen hub is where names are looked up", () => {
  assert.equal(
    target("Qwen/Qwen3-8B", "https://modelscope.cn"),
    "https://modelscope.cn | Qwen/Qwen3-8B | master |  | ",
  );
  assert.equal(
    target("https://hub.example.org/models/hf/o/n", "https://hub.example.org/models/hf"),
    "https://hub.example.org/models/hf | o/n | main |  | ",
  );
});

test("what is no name or address is refused", () => {
  const texts = [
    "",
    "a b/c",
    "../../etc",
    "org/",
    "https://",
    "datasets/a/b",
    "org/na me",
    "/x",
    "-a/b",
  ];
  for (const text of texts)
    assert.equal(
      code_of(() => target(text)),
      "bad_name",
      text,
    );
  assert.equal(parse_base(" hub.example.org/hf/ "), "https://hub.example.org/hf");
  assert.equal(parse_base("http://localhost:9000"), "http://localhost:9000");
  for (const text of ["", "https://", "a b"])
    assert.equal(
      code_of(() => parse_base(text)),
      "bad_base",
      text,
    );
});

const files = (...paths) => paths.map((path, index) => ({ path, size: 100 + index }));
const found = (list, path = "", tag = "") =>
  find_variants(list, path, tag).map((variant) => [
    variant.name,
    ...variant.files.map((file) => file.path),
  ]);

test("a checkpoint is its shards, their index and the configurations beside them", () => {
  const list = files(
    "README.md",
    "config.json",
    "tokenizer.json",
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "model.safetensors.index.json",
    "hf_quant_config.json",
    "consolidated.00.safetensors",
    "original/consolidated.00.pth",
    "onnx/model.safetensors",
  );
  assert.deepEqual(found(list), [
    [
      "safetensors",
      "config.json",
      "model.safetensors.index.json",
      "hf_quant_config.json",
      "model-00001-of-00002.safetensors",
      "model-00002-of-00002.safetensors",
    ],
  ]);
});

test("each GGUF is offered, split ones whole, from small to large; what lies beside them is not", () => {
  const list = [
    { path: "a-Q8_0.gguf", size: 800 },
    { path: "a-Q4_K_M.gguf", size: 450 },
    { path: "a-Q4_K_S.gguf", size: 400 },
    { path: "BF16/a-BF16-00001-of-00002.gguf", size: 900 },
    { path: "BF16/a-BF16-00002-of-00002.gguf", size: 700 },
    { path: "mmproj-F16.gguf", size: 50 },
    { path: "imatrix.gguf", size: 5 },
  ];
  assert.deepEqual(found(list), [
    ["a-Q4_K_S", "a-Q4_K_S.gguf"],
    ["a-Q4_K_M", "a-Q4_K_M.gguf"],
    ["a-Q8_0", "a-Q8_0.gguf"],
    ["BF16/a-BF16", "BF16/a-BF16-00001-of-00002.gguf", "BF16/a-BF16-00002-of-00002.gguf"],
  ]);
  assert.deepEqual(found(list, "", "q4_k_m"), [["a-Q4_K_M", "a-Q4_K_M.gguf"]]);
  assert.deepEqual(found(list, "BF16").length, 1);
  assert.deepEqual(found(list, "a-Q8_0.gguf"), [["a-Q8_0", "a-Q8_0.gguf"]]);
  // Any part stands for all of them.
  assert.equal(found(list, "BF16/a-BF16-00002-of-00002.gguf")[0].length, 3);
  assert.equal(
    code_of(() => found(list, "", "Q3_K")),
    "file_missing",
  );
});

test("what cannot be read has a reason of its own", () => {
  assert.equal(
    code_of(() => found(files("config.json", "pytorch_model.bin"))),
    "pickle_only",
  );
  assert.equal(
    code_of(() => found(files("README.md"))),
    "no_model",
  );
  assert.equal(
    code_of(() => found(files("model.safetensors"))),
    "no_config",
  );
  const [split] = find_variants(files("a-00001-of-00003.gguf", "a-00003-of-00003.gguf"), "", "");
  assert.equal(
    code_of(() => check_parts(split)),
    "part_missing",
  );
});

test("of chosen files those are read that a model is made of", () => {
  const named = (...names) => names.map((name) => ({ name }));
  const names = (list) => readable_files(list).map(({ name }) => name);
  assert.deepEqual(
    names(
      named("README.md", "config.json", "model.safetensors", "tokenizer_config.json", "vocab.json"),
    ),
    ["config.json", "model.safetensors"],
  );
  assert.deepEqual(names(named("hf_quant_config.json", "generation_config.json")), [
    "hf_quant_config.json",
  ]);
  assert.equal(
    code_of(() => names(named("model.bin"))),
    "pickle_only",
  );
  assert.equal(
    code_of(() => names(named("photo.jpg"))),
    "unknown_files",
  );
  assert.equal(
    code_of(() => names([])),
    "unknown_files",
  );
  assert.equal(lone_config(named("my.json"))?.name, "my.json");
  assert.equal(lone_config(named("model.safetensors.index.json")), undefined);
  assert.equal(lone_config(named("config.json", "model.safetensors")), undefined);
});
