// Command lines as people wrote them, re-typed, with what they mean.
#pragma once

#include <string_view>

namespace vramgauge {

struct CommandCase {
  std::string_view name;
  /// Where it was published.
  std::string_view source;
  std::string_view text;
  /// The model as it is named.
  std::string_view model;
  /// Every field of the patch that is not the scenario's default, as a JSON object.
  std::string_view patch;
  /// Names of settings that nothing is known of, and of those that no field is for; blanks between.
  std::string_view unknown;
  std::string_view not_modelled;
};

inline constexpr CommandCase kCommandCases[] = {
    {"vllm_nvfp4_moe", "huggingface.co/lukealonso/MiniMax-M2.7-NVFP4, discussion 10",
     R"(CUDA_VISIBLE_DEVICES=0,1 \
SAFETENSORS_FAST_GPU=1 \
OMP_NUM_THREADS=8 \
NCCL_P2P_DISABLE=1 \
vllm serve lukealonso/MiniMax-M2.7-NVFP4 \
  --port 23333 \
  --trust-remote-code \
  --served-model-name MM-27 \
  --tensor-parallel-size 2 \
  --enable-auto-tool-choice \
  --tool-call-parser minimax_m2 \
  --reasoning-parser minimax_m2_append_think \
  --disable-custom-all-reduce \
  --enable_expert_parallel \
  --gpu-memory-utilization 0.95 \
  --max-num-seqs 8 \
  --kv-cache-dtype turboquant_k8v4 \
  --max-model-len 130k
)",
     "lukealonso/MiniMax-M2.7-NVFP4",
     R"({"engine":"vllm","weight_format":"auto","gpu_count":2,"cache_type_k":"turboquant_k8v4",
        "context_tokens":130000,"max_model_len":130000,"tensor_ranks":2,"expert_parallel":"on",
        "memory_frac":0.95,"max_num_seqs":8})",
     "", ""},
    {"vllm_repeated_flag", "pastebin.com/wFt4hKqg: the later of two counts",
     "(venv) user@gpu-server:~$ vllm serve /srv/models/awq/GLM-4.5-Air-AWQ --host 192.168.1.12 "
     "--port 8000 --api-key token-abc123 --tensor-parallel-size 8 --tool-call-parser glm45 "
     "--reasoning-parser glm45 --enable-auto-tool-choice --dtype half --enable-expert-parallel "
     "--tensor-parallel-size 2 --pipeline-parallel-size 1 --max-model-len 16384 --max-num-seqs 16 "
     "--kv-cache-dtype fp8 --calculate-kv-scales --gpu-memory-utilization 0.98",
     "/srv/models/awq/GLM-4.5-Air-AWQ",
     R"({"engine":"vllm","weight_format":"fp16","gpu_count":2,"cache_type_k":"fp8",
        "context_tokens":16384,"max_model_len":16384,"tensor_ranks":2,"expert_parallel":"on",
        "memory_frac":0.98,"max_num_seqs":16})",
     "", ""},
    {"vllm_recipe_underscores", "docs.vllm.ai/projects/recipes: Ring-1T-FP8",
     R"(vllm serve inclusionAI/Ring-1T-FP8 \
  --trust-remote-code \
  --tensor-parallel-size 8 \
  --gpu-memory-utilization 0.97 \
  --max_num_seqs 32 \
  --kv-cache-dtype fp8 \
  --compilation-config '{"use_inductor": false}' \
  --served-model-name Ring-1T-FP8)",
     "inclusionAI/Ring-1T-FP8",
     R"({"engine":"vllm","weight_format":"auto","gpu_count":8,"cache_type_k":"fp8",
        "tensor_ranks":8,"memory_frac":0.97,"max_num_seqs":32})",
     "", "--compilation-config"},
    {"vllm_python_module", "vllm issue 17250: flags with and without =",
     R"(python -m vllm.entrypoints.openai.api_server \
  --served-model-name Qwen2___5-VL-32B-Instruct-AWQ \
  --model /models/Qwen2___5-VL-32B-Instruct-AWQ \
  --tensor-parallel-size 2 \
  --dtype=half \
  --gpu_memory_utilization 0.99 \
  --max_num_seqs 10 \
  --limit-mm-per-prompt "image=5,video=0" \
  --mm-processor-kwargs '{"max_pixels": 2073600}' \
  --enable-auto-tool-choice \
  --tool-call-parser=llama3_json \
  --trust-remote-code \
  --enforce-eager \
  --port=7777 \
  --max-model-len 18000)",
     "/models/Qwen2___5-VL-32B-Instruct-AWQ",
     R"({"engine":"vllm","weight_format":"fp16","gpu_count":2,"context_tokens":18000,
        "max_model_len":18000,"tensor_ranks":2,"memory_frac":0.99,"max_num_seqs":10,
        "enforce_eager":"on","images_per_request":5})",
     "", "--mm-processor-kwargs"},
    {"vllm_lines_without_continuation", "vllm issue 17250: pasted with its continuations lost",
     R"(python -m vllm.entrypoints.openai.api_server
--model /models/Qwen2___5-VL-32B-Instruct-AWQ
--tensor-parallel-size 2
--max-model-len 18000)",
     "/models/Qwen2___5-VL-32B-Instruct-AWQ",
     R"({"engine":"vllm","weight_format":"auto","gpu_count":2,"context_tokens":18000,
        "max_model_len":18000,"tensor_ranks":2})",
     "", ""},
    {"vllm_compose_string", "vllm issue 3435: docker-compose.yaml",
     R"(services:
  vllm:
    image: vllm/vllm-openai:latest
    command: --model mistralai/Mistral-7B-v0.1
    environment:
      - HUGGING_FACE_HUB_TOKEN="key"
    volumes:
      - ~/.cache/huggingface:/cache/huggingface
    ports:
      - "8000:8000"
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 1
              capabilities: [gpu]
)",
     "mistralai/Mistral-7B-v0.1", R"({"engine":"vllm","weight_format":"auto","tensor_ranks":1})",
     "", ""},
    {"vllm_compose_list", "h2oai/h2ogpt pull request 927: entry point and list of arguments",
     R"(version: '3'
services:
  vllm:
    runtime: nvidia
    image: gcr.io/vorvan/h2oai/h2ogpt-runtime:0.1.0
    entrypoint: /h2ogpt_conda/vllm_env/bin/python3.10
    command:
      - -m
      - vllm.entrypoints.openai.api_server
      - --port=5000
      - --host=0.0.0.0
      - --model=${H2OGPT_BASE_MODEL}
      - --tokenizer=${VLLM_TOKENIZER}
      - --tensor-parallel-size=2
      - --seed=1234
      - --trust-remote-code
      - --download-dir=/workspace/.cache/huggingface/hub
)",
     "${H2OGPT_BASE_MODEL}",
     R"({"engine":"vllm","weight_format":"auto","gpu_count":2,"tensor_ranks":2})", "", ""},
    {"vllm_dockerfile", "vllm issue 1091: ENTRYPOINT of a Dockerfile",
     R"(FROM nvcr.io/nvidia/pytorch:23.04-py3
ENTRYPOINT [ "python3", "-m", "vllm.entrypoints.openai.api_server", "--tensor-parallel-size", "1", "--host", "0.0.0.0", "--port", "8000" ]
)",
     "", R"({"engine":"vllm","weight_format":"auto","tensor_ranks":1})", "", ""},
    {"vllm_compose_mixed_dashes", "opea-project/GenAIExamples pull request 1626, compose.yaml",
     R"(  vllm-service:
    image: ${REGISTRY:-opea}/vllm-gaudi:${TAG:-latest}
    runtime: habana
    ipc: host
    command: --model $LLM_MODEL_ID --tensor-parallel-size 1 --host 0.0.0.0 --port 80 --block-size 128 --max-num-seqs 256 --max-seq_len-to-capture 2048
)",
     "$LLM_MODEL_ID",
     R"({"engine":"vllm","weight_format":"auto","tensor_ranks":1,"block_tokens":128,
        "max_num_seqs":256})",
     "", "--max-seq_len-to-capture"},
    {"vllm_kubernetes",
     "docs.vllm.ai of 0.8.5, deployment/k8s (docs/source/deployment/k8s.md): a shell in a "
     "container",
     R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: mistral-7b
  namespace: default
  labels:
    app: mistral-7b
spec:
  replicas: 1
  selector:
    matchLabels:
      app: mistral-7b
  template:
    metadata:
      labels:
        app: mistral-7b
    spec:
      volumes:
      - name: cache-volume
        persistentVolumeClaim:
          claimName: mistral-7b
      # vLLM needs to access the host's shared memory for tensor parallel inference.
      - name: shm
        emptyDir:
          medium: Memory
          sizeLimit: "2Gi"
      containers:
      - name: mistral-7b
        image: vllm/vllm-openai:latest
        command: ["/bin/sh", "-c"]
        args: [
          "vllm serve mistralai/Mistral-7B-Instruct-v0.3 --trust-remote-code --enable-chunked-prefill --max_num_batched_tokens 1024"
        ]
        env:
        - name: HUGGING_FACE_HUB_TOKEN
          valueFrom:
            secretKeyRef:
              name: hf-token-secret
              key: token
        ports:
        - containerPort: 8000
        resources:
          limits:
            cpu: "10"
            memory: 20G
            nvidia.com/gpu: "1"
)",
     "mistralai/Mistral-7B-Instruct-v0.3",
     R"({"engine":"vllm","weight_format":"auto","tensor_ranks":1,"max_num_batched_tokens":1024})",
     "", "--enable-chunked-prefill"},
    {"vllm_docker_run",
     "docs.vllm.ai of 0.23, deployment/docker (docs/getting_started/installation/gpu.cuda.inc.md)",
     R"(docker run --runtime nvidia --gpus all \
    -v ~/.cache/huggingface:/cache/huggingface \
    --env "HF_TOKEN=$HF_TOKEN" \
    -p 8000:8000 \
    --ipc=host \
    vllm/vllm-openai:latest \
    --model Qwen/Qwen3-0.6B)",
     "Qwen/Qwen3-0.6B", R"({"engine":"vllm","weight_format":"auto","tensor_ranks":1})", "", ""},
    {"vllm_mtp", "docs.vllm.ai/projects/recipes, GLM/GLM.md: an object's members as flags",
     R"(# Start server with FP8 model on 4xH200
vllm serve zai-org/GLM-4.7-FP8 \
     --tensor-parallel-size 4 \
     --speculative-config.method mtp \
     --speculative-config.num_speculative_tokens 1 \
     --tool-call-parser glm47 \
     --reasoning-parser glm45 \
     --enable-auto-tool-choice)",
     "zai-org/GLM-4.7-FP8",
     R"({"engine":"vllm","weight_format":"auto","gpu_count":4,"tensor_ranks":4,
        "speculative":"mtp","draft_tokens":1})",
     "", ""},
    {"sglang_eagle", "sglang issue 5491",
     R"(python -m sglang.launch_server --model /mnt/data/open_source/QwQ-32B/Qwen__QwQ-32B/   --served-model-name Qwen-32B --speculative-algorithm EAGLE \
    --speculative-draft-model-path /mnt/train/eagle/EAGLE-1/ckpt_2/state_1/ --speculative-num-steps 3 \
    --speculative-eagle-topk 2 --speculative-num-draft-tokens 8 --cuda-graph-max-bs 8 --port 9123 --tensor-parallel-size 2 --mem-fraction-static 0.8 --attention-backend fa3 --enable-torch-compile --max-running-requests 100)",
     "/mnt/data/open_source/QwQ-32B/Qwen__QwQ-32B/",
     R"({"engine":"sglang","weight_format":"auto","gpu_count":2,"tensor_ranks":2,
        "speculative":"eagle","draft_tokens":8,"cuda_graph_max_bs":8,"memory_frac":0.8,
        "max_num_seqs":100})",
     "",
     "--speculative-num-steps --speculative-eagle-topk --attention-backend "
     "--enable-torch-compile"},
    {"sglang_dp_attention", "sglang pull request 12002",
     "python3 -m sglang.launch_server --model-path ~/models/Qwen3-235B-A22B --trust-remote-code "
     "--disable-radix-cache --tp-size 8 --dp-size 2 --mem-fraction-static 0.85 --context-length "
     "32768 --enable-dp-attention --enable-dp-lm-head --moe-dense-tp-size 1 "
     "--speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 3 "
     "--speculative-num-draft-tokens 8 --speculative-draft-model-path "
     "~/models/lmsys/Qwen3-235B-A22B-EAGLE3 --attention-backend fa3",
     "~/models/Qwen3-235B-A22B",
     R"({"engine":"sglang","weight_format":"auto","gpu_count":8,"tensor_ranks":8,"data_ranks":2,
        "dp_attention":"on","memory_frac":0.85,"context_tokens":32768,"max_model_len":32768,
        "speculative":"eagle","draft_tokens":8})",
     "",
     "--disable-radix-cache --enable-dp-lm-head --moe-dense-tp-size --speculative-num-steps "
     "--speculative-eagle-topk --attention-backend"},
    {"sglang_names_cut_short", "SafeAILab/EAGLE pull request 173",
     "python3 -m sglang.launch_server --model meta-llama/Llama-2-7b-chat-hf  --speculative-algo "
     "EAGLE --speculative-draft lmzheng/sglang-EAGLE-llama2-chat-7B --speculative-num-steps 5 "
     "--speculative-eagle-topk 8 --speculative-num-draft-tokens 64 --mem-fraction 0.7",
     "meta-llama/Llama-2-7b-chat-hf",
     R"({"engine":"sglang","weight_format":"auto","tensor_ranks":1,"speculative":"eagle",
        "draft_tokens":64,"memory_frac":0.7})",
     "", "--speculative-num-steps --speculative-eagle-topk"},
    {"sglang_own_draft_layers", "sglang pull request 23146: EAGLE without a draft model",
     R"(SGLANG_USE_AITER=1 \
python3 -m sglang.launch_server \
  --model-path /data2/Qwen/Qwen3.5-397B-A17B-FP8 --tp 8 \
  --attention-backend aiter --trust-remote-code \
  --model-loader-extra-config '{"enable_multithread_load": true}' \
  --watchdog-timeout 1200 --mem-fraction-static 0.9 \
  --host 0.0.0.0 --port 9000 --disable-radix-cache \
  --enable-aiter-allreduce-fusion --max-running-requests 128 \
  --page-size 16 \
  --speculative-algorithm EAGLE --speculative-num-steps 3 \
  --speculative-eagle-topk 1 --speculative-num-draft-tokens 4)",
     "/data2/Qwen/Qwen3.5-397B-A17B-FP8",
     R"({"engine":"sglang","weight_format":"auto","gpu_count":8,"tensor_ranks":8,
        "memory_frac":0.9,"max_num_seqs":128,"block_tokens":16,"speculative":"mtp",
        "draft_tokens":4})",
     "",
     "$SGLANG_USE_AITER --attention-backend --disable-radix-cache --speculative-num-steps "
     "--speculative-eagle-topk"},
    {"sglang_chunked_prefill",
     "docs.sglang.ai of 0.5, advanced_features/server_arguments: common launch commands",
     "python -m sglang.launch_server --model-path meta-llama/Meta-Llama-3-8B-Instruct "
     "--chunked-prefill-size 4096",
     "meta-llama/Meta-Llama-3-8B-Instruct",
     R"({"engine":"sglang","weight_format":"auto","tensor_ranks":1,
        "max_num_batched_tokens":4096})",
     "", ""},
    {"sglang_docker", "docs.sglang.ai of 0.5.5, get_started/install: method 3",
     R"(docker run --gpus all \
    --shm-size 32g \
    -p 30000:30000 \
    -v ~/.cache/huggingface:/cache/huggingface \
    --env "HF_TOKEN=<secret>" \
    --ipc=host \
    lmsysorg/sglang:latest \
    python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --host 0.0.0.0 --port 30000)",
     "meta-llama/Llama-3.1-8B-Instruct",
     R"({"engine":"sglang","weight_format":"auto","tensor_ranks":1})", "", ""},
    {"trtllm_options_file", "nvidia.github.io/TensorRT-LLM, examples/deepseek_r1_reasoning_parser",
     R"(#! /usr/bin/env bash

cat >./config.yml <<EOF
cuda_graph_config:
    enable_padding: true
    max_batch_size: 512
enable_attention_dp: true
kv_cache_config:
    dtype: fp8
    free_gpu_memory_fraction: 0.8
stream_interval: 10
moe_config:
    backend: DEEPGEMM
EOF

trtllm-serve \
    deepseek-ai/DeepSeek-R1 \
    --host localhost --port 8000 \
    --trust_remote_code \
    --max_batch_size 1024 --max_num_tokens 8192 \
    --tp_size 8 --ep_size 8 --pp_size 1 \
    --config ./config.yml \
    --reasoning_parser deepseek-r1
)",
     "deepseek-ai/DeepSeek-R1",
     R"({"engine":"tensorrt_llm","weight_format":"auto","gpu_count":8,"cache_type_k":"fp8",
        "tensor_ranks":8,"expert_parallel":"on","memory_frac":0.8,"max_num_batched_tokens":8192,
        "max_num_seqs":1024})",
     "",
     "--config cuda_graph_config.enable_padding cuda_graph_config.max_batch_size "
     "enable_attention_dp moe_config.backend"},
    {"trtllm_plain", "mintlify.com/NVIDIA/TensorRT-LLM, deployment/production",
     R"(trtllm-serve meta-llama/Llama-3.1-8B-Instruct \
  --max_batch_size 128 \
  --max_num_tokens 8192)",
     "meta-llama/Llama-3.1-8B-Instruct",
     R"({"engine":"tensorrt_llm","weight_format":"auto","tensor_ranks":1,"max_num_seqs":128,
        "max_num_batched_tokens":8192})",
     "", ""},
    {"llama_server_experts_on_cpu", "llama.cpp pull request 15077: -fa as a switch, no context",
     "llama-server -hf ggml-org/gpt-oss-120b-GGUF --ctx-size 0 --jinja --flash-attn "
     "--n-gpu-layers 99 --reasoning-format none --n-cpu-moe 3",
     "ggml-org/gpt-oss-120b-GGUF",
     R"({"engine":"llama_cpp","cache_type_v":"fp16","num_requests":4,"kv_unified":"on",
        "flash_attn":"on","gpu_layers":99,"cpu_moe_layers":3})",
     "", ""},
    {"llama_server_override", "keilladraconis/amd-strix-halo-toolboxes, gpt-oss.sh",
     R"(#! /bin/bash
llama-server \
    -hf unsloth/gpt-oss-120b-GGUF:F16 \
    --alias gpt-oss-120b \
    --jinja \
    --threads -1 \
    --ctx-size 131072 \
    --n-gpu-layers 99 \
    -ot ".ffn_.*_exps.=CPU" \
    --temp 1.0 \
    --min-p 0.0 \
    --top-p 1.0 \
    --top-k 0.0 \
    --port 10002)",
     "unsloth/gpt-oss-120b-GGUF:F16",
     R"({"engine":"llama_cpp","weight_format":"F16","cache_type_v":"fp16","context_tokens":32768,
        "num_requests":4,"kv_unified":"on","gpu_layers":99,
        "override_tensors":".ffn_.*_exps.=CPU"})",
     "", ""},
    {"llama_server_hf_file", "davkk/.config, nvim/llama.sh",
     R"(llama-server \
    --hf-repo ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF \
    --hf-file qwen2.5-coder-0.5b-q8_0.gguf \
    --n-gpu-layers 999 \
    --batch-size 1024 \
    --ubatch-size 512 \
    --flash-attn on \
    --cache-reuse 256 \
    --port 8012)",
     "ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF/qwen2.5-coder-0.5b-q8_0.gguf",
     R"({"engine":"llama_cpp","weight_format":"Q8_0","cache_type_v":"fp16","num_requests":4,
        "kv_unified":"on","batch_tokens":1024,"flash_attn":"on","gpu_layers":999})",
     "", ""},
    {"llama_server_cache_types", "a start script of Devstral Small in public dotfiles",
     R"(llama-server \
    -hf unsloth/Devstral-Small-2505-GGUF:Q4_K_M \
    --port 11434 \
    --threads -1 \
    --ctx-size 131072 \
    --cache-type-k q8_0 \
    --cache-type-v q8_0 \
    --flash-attn \
    --n-gpu-layers 41 \
    --seed 3407 \
    --prio 2 \
    --temp 0.15 \
    --jinja)",
     "unsloth/Devstral-Small-2505-GGUF:Q4_K_M",
     R"({"engine":"llama_cpp","cache_type_k":"q8_0","cache_type_v":"q8_0","context_tokens":32768,
        "num_requests":4,"kv_unified":"on","flash_attn":"on","gpu_layers":41})",
     "", ""},
    {"llama_server_by_variable", "a start script of GLM-4.5: the program is a variable's value",
     R"(model="/mnt/gguf/GLM-4.5-Q8_0/GLM-4.5-Q8_0-00001-of-00008.gguf"
server="llama.cpp/build/bin/llama-server"
$server --model $model \
    --seed 0 \
    --n-gpu-layers 6 \
    --ctx-size 16384 \
    --api-key sk-1234 \
    --log-verbosity 0)",
     "/mnt/gguf/GLM-4.5-Q8_0/GLM-4.5-Q8_0-00001-of-00008.gguf",
     R"({"engine":"llama_cpp","weight_format":"Q8_0","cache_type_v":"fp16","context_tokens":4096,
        "num_requests":4,"kv_unified":"on","gpu_layers":6})",
     "$model $server", ""},
    {"llama_cli", "a job script of medgemma: the program by its path",
     R"(HF_HUB_CACHE=/sc/hub LLAMA_CACHE=/sc/llama \
../llama.cpp/build/bin/llama-cli -hf unsloth/medgemma-27b-text-it-GGUF:Q8_0 \
-c 8192 -ngl 100 --temp 0.7)",
     "unsloth/medgemma-27b-text-it-GGUF:Q8_0",
     R"({"engine":"llama_cpp","program":"api","weight_format":"Q8_0","cache_type_v":"fp16",
        "context_tokens":8192,"num_requests":1,"gpu_layers":100})",
     "", ""},
    {"llama_bench",
     "llama.cpp, tools/llama-bench/README.md (2025): lists of models and tests; the last model "
     "counts",
     "./llama-bench -m models/7B/ggml-model-q4_0.gguf -m models/13B/ggml-model-q4_0.gguf -p 0 "
     "-n 128,256,512",
     "models/13B/ggml-model-q4_0.gguf",
     R"({"engine":"llama_cpp","program":"bench","weight_format":"Q4_0","cache_type_v":"fp16",
        "context_tokens":512,"num_requests":1,"gpu_layers":99})",
     "", ""},
    {"llama_docker", "llama.cpp, docs/docker.md (2025): the server image",
     "docker run -v /path/to/models:/models -p 8080:8080 ghcr.io/ggml-org/llama.cpp:server -m "
     "/models/7B/ggml-model-q4_0.gguf --port 8080 --host 0.0.0.0 -n 512",
     "/models/7B/ggml-model-q4_0.gguf",
     R"({"engine":"llama_cpp","weight_format":"Q4_0","cache_type_v":"fp16","num_requests":4,
        "kv_unified":"on"})",
     "", ""},
    {"ollama_modelfile", "serverman.co.uk, What Is an Ollama Modelfile?",
     R"(# Start from the 3B parameter llama3.2 model
FROM llama3.2:3b
SYSTEM """
You are a senior Linux systems administrator.
PARAMETER num_ctx 1
"""
PARAMETER temperature 0.7
PARAMETER num_ctx 4096
)",
     "llama3.2:3b", R"({"engine":"llama_cpp","context_tokens":4096,"num_requests":1})", "", ""},
    {"ollama_gguf_modelfile", "huggingface.co/NeuralNet-Hub/openchat-3.6-8b-20240522-GGUF",
     R"(FROM openchat-3.6-8b-20240522-q4_K_M.gguf
PARAMETER temperature 0.5
PARAMETER num_ctx 8192
PARAMETER num_predict 4096
SYSTEM "You are an AI assistant"
TEMPLATE "{{ if .System }}<|begin_of_text|>
{{ .Response }}<|eot_id|>"
)",
     "openchat-3.6-8b-20240522-q4_K_M.gguf",
     R"({"engine":"llama_cpp","context_tokens":8192,"num_requests":1})", "", ""},
    {"ollama_environment", "what Homebrew says of its formula ollama, in public notes: variables",
     R"(OLLAMA_FLASH_ATTENTION="1" OLLAMA_KV_CACHE_TYPE="q8_0" /opt/homebrew/opt/ollama/bin/ollama serve
ollama run llama3)",
     "llama3", R"({"engine":"llama_cpp","cache_type_k":"q8_0","num_requests":1,"flash_attn":"on"})",
     "", ""},
    {"ollama_context", "docs.ollama.com/faq, How can I specify the context window size?",
     "OLLAMA_CONTEXT_LENGTH=8192 ollama serve", "",
     R"({"engine":"llama_cpp","context_tokens":8192,"num_requests":1})", "", ""},
};

}  // namespace vramgauge
