/** Takes the source's indentation out of HTML and CSS templates; no template of the page depends on it. */
import type { Plugin } from "vite";

/** What this needs of a syntax tree. */
interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const kTags = new Set(["html", "svg", "css"]);

const is_node = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** The texts between the expressions of all templates with one of the tags. */
function template_texts(node: Node): Node[] {
  const children = Object.values(node).flat().filter(is_node);
  const inner = children.flatMap(template_texts);
  const { tag, quasi } = node as { tag?: { name?: string }; quasi?: { quasis: Node[] } };
  const tagged = node.type === "TaggedTemplateExpression" && kTags.has(tag?.name ?? "");
  return tagged ? [...quasi!.quasis, ...inner] : inner;
}

export function indent_plugin(): Plugin {
  return {
    name: "vramgauge-indent",
    enforce: "post",
    apply: "build",
    transform(code, id) {
      if (!id.includes("/src/") || !/\b(html|svg|css)`/.test(code)) return null;
      const texts = template_texts(this.parse(code) as unknown as Node);
      const pieces: string[] = [];
      let end = 0;
      for (const text of texts.sort((a, b) => a.start - b.start)) {
        pieces.push(
          code.slice(end, text.start),
          code.slice(text.start, text.end).replace(/\n\s*/g, " "),
        );
        end = text.end;
      }
      return { code: [...pieces, code.slice(end)].join(""), map: null };
    },
  };
}
