import { decoded, url_of } from "./address";
import { ImportFailure } from "./failure";

/** Hubs differ in where they list and keep files. */
export type HubStyle = "huggingface" | "modelscope";

/** What a name or address means: a repository of a hub and perhaps one file in it, or a file anywhere. */
export type Target =
  | {
      kind: "repository";
      style: HubStyle;
      /** Address of the hub, without a slash at its end. */
      base: string;
      id: string;
      revision: string;
      /** A file or folder of the repository; "" = all of it. */
      path: string;
      /** Part of the wanted file's name, such as Q4_K_M; "" = none. */
      tag: string;
    }
  | { kind: "file"; url: string; name: string };

export const kHubs = [
  "https://huggingface.co",
  "https://hf-mirror.com",
  "https://modelscope.cn",
] as const;

const kOtherNames: Record<string, string> = {
  "hf.co": "huggingface.co",
  "www.modelscope.cn": "modelscope.cn",
  "www.huggingface.co": "huggingface.co",
};
const kKnownHosts = [...kHubs.map((hub) => new URL(hub).host), ...Object.keys(kOtherNames)];
const kName = /^[A-Za-z0-9][\w.-]*$/;
const kFile = /\.(gguf|safetensors|json)$/i;
/** What stands between a repository and the revision in addresses of its files. */
const kFileRoutes = ["tree", "blob", "resolve", "raw"];

/** The address of a hub as the user wrote it, in normal form. */
export function parse_base(text: string): string {
  const given = text.trim();
  const url =
    given === "" ? null : url_of(/^https?:\/\//i.test(given) ? given : `https://${given}`);
  if (!url) throw new ImportFailure("bad_base", { text: given });
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/**
 * Reads "org/name", "org/name:Q4_K_M", "org/name@revision", "org/name/file.gguf", or the address of a
 * repository, of a page about a file, or of the file itself.
 */
export function parse_target(text: string, base: string): Target {
  const given = text.trim();
  const [host = ""] = given.split("/");
  if (kKnownHosts.includes(host)) return parse_address(`https://${given}`, base);
  if (/^https?:\/\//i.test(given)) return parse_address(given, base);
  return repository(base, given.split("/"), text);
}

function parse_address(text: string, base: string): Target {
  const url = url_of(text);
  if (!url) throw new ImportFailure("bad_name", { text });
  url.host = kOtherNames[url.host] ?? url.host;
  const inside = `${url.origin}${url.pathname}`.startsWith(`${base}/`);
  const root = inside ? base : url.origin;
  const path = `${url.origin}${url.pathname}`.slice(root.length + 1).replace(/\/+$/, "");
  const parts = path.split("/").map(decoded);
  const route = parts[style_of(root) === "modelscope" ? 3 : 2] ?? "";
  if (kFile.test(path) && !kFileRoutes.includes(route) && route !== "file")
    return { kind: "file", url: url.href, name: parts.at(-1) ?? "" };
  return repository(root, parts, text);
}

function repository(base: string, parts: string[], text: string): Target {
  const style = style_of(base);
  if (style === "modelscope" && parts[0] === "models") parts = parts.slice(1);
  // A name of one part is an old form of Hugging Face's; a file's name is none.
  const [owner = "", second, ...rest] = parts;
  const [named, revision = "", tag = ""] = suffixes(second ?? owner);
  const id = second === undefined ? named : `${owner}/${named}`;
  if (!id.split("/").every((part) => kName.test(part)) || ["datasets", "spaces"].includes(owner))
    throw new ImportFailure("bad_name", { text });
  const main = style === "modelscope" ? "master" : "main";
  const place = file_place(rest);
  return {
    kind: "repository",
    style,
    base,
    id,
    revision: place.revision || revision || main,
    path: place.path,
    tag,
  };
}

/** "name@revision:tag" in its parts. */
function suffixes(text: string): [string, string, string] {
  const [, name = "", revision = "", tag = ""] =
    /^([^@:]*)(?:@([^:]+))?(?::(.+))?$/.exec(text) ?? [];
  return [name, revision, tag];
}

/** The parts after a repository's name: a route and a revision, or a path at once. */
function file_place([route = "", ...rest]: string[]): { revision: string; path: string } {
  if (route === "file" && rest[0] === "view")
    return { revision: rest[1] ?? "", path: rest.slice(2).join("/") };
  if (kFileRoutes.includes(route))
    return { revision: rest[0] ?? "", path: rest.slice(1).join("/") };
  const path = [route, ...rest].join("/");
  return { revision: "", path: kFile.test(path) ? path : "" };
}

function style_of(base: string): HubStyle {
  return /(^|\.)modelscope\.(cn|ai)$/.test(new URL(base).hostname) ? "modelscope" : "huggingface";
}
