import type { CoreClient } from "../../core/client";
import type { MixerSummary, ModelSummary } from "../../core/types";

export type KindName = "mha" | "gqa" | "mqa" | "mla";

/** What a model's cache would be with one kind of attention. */
export interface AttentionKind {
  name: KindName;
  num_kv_heads: number;
  /** In 16 bits, over all layers. */
  bytes_per_token: number;
  /** The kind that the model has. */
  is_own: boolean;
}

/** DeepSeek-V2 (arXiv 2405.04434, section 2.1.4): d_c = 4 d_h, and d_h / 2 for positions. */
const kLatentHeads = 4;
const kPositionHeads = 0.5;
/** Where a model has no groups of its own: as many KV heads as Llama 3 and Qwen 3 have. */
const kUsualKvHeads = 8;
/** The width of a head that latent attention does not name, as in DeepSeek-V2 and V3. */
const kUsualHeadDim = 128;

/** All four kinds for the model's layers; empty where it has no attention with heads. The core counts. */
export function attention_kinds(core: CoreClient, model: ModelSummary): AttentionKind[] {
  const main = widest(model.mixers);
  const num_heads = main?.num_heads ?? 0;
  if (!main || num_heads === 0) return [];
  const head_dim = main.head_dim ?? kUsualHeadDim;
  const num_hidden_layers = attention_layers(model);
  const own = own_kind(main);
  const own_kv_heads = main.num_kv_heads ?? 0;
  const grouped = own === "gqa" ? own_kv_heads : Math.min(kUsualKvHeads, num_heads);
  // Only the cache is asked for; a count of parameters stands for the weights.
  const shared = {
    model_type: "custom",
    num_parameters: 1,
    num_hidden_layers,
    num_attention_heads: num_heads,
  };
  const heads = (count: number): object => ({ ...shared, num_key_value_heads: count, head_dim });
  const latent = {
    ...shared,
    kv_lora_rank: main.kv_lora_rank ?? kLatentHeads * head_dim,
    qk_rope_head_dim: main.qk_rope_head_dim ?? Math.max(1, Math.floor(kPositionHeads * head_dim)),
  };
  const described: [KindName, number, object][] = [
    ["mha", num_heads, heads(num_heads)],
    ["gqa", grouped, heads(grouped)],
    ["mqa", 1, heads(1)],
    ["mla", 0, latent],
  ];
  return described.flatMap(([name, num_kv_heads, description]) => {
    const reply = core.call("model", { config_text: JSON.stringify(description) });
    if (!reply.ok || !reply.result.kv) return [];
    const { bytes_per_token } = reply.result.kv;
    return [{ name, num_kv_heads, bytes_per_token, is_own: name === own }];
  });
}

export const attention_layers = ({ mixers }: ModelSummary): number =>
  mixers
    .filter(({ num_heads }) => num_heads !== undefined)
    .reduce((total, { layers }) => total + layers, 0);

/** The mixer of the most layers among those with heads. */
const widest = (mixers: MixerSummary[]): MixerSummary | undefined =>
  mixers
    .filter(({ kind }) => kind === "attention" || kind === "latent")
    .sort((a, b) => b.layers - a.layers)[0];

function own_kind({ kind, num_heads, num_kv_heads }: MixerSummary): KindName {
  if (kind === "latent") return "mla";
  if (num_kv_heads === 1) return "mqa";
  return num_kv_heads === num_heads ? "mha" : "gqa";
}
