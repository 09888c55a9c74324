import { headline, explanation } from "../components/verdict/verdict_text";
import { t } from "../i18n/i18n";
import type { Store } from "../state/store";
import { chosen_inputs } from "./inputs";
import { styled_copy, svg_element } from "./svg";

const kMargin = 24;
/** The width that drawings are made for. */
export const kDrawingWidth = 872;
const kPictureWidth = kDrawingWidth + 2 * kMargin;
const kLineHeight = 1.45;

/** A drawing with what stands above it, its name at the left, its figure at the right, and its key below. */
export interface Block {
  left: string;
  right: string;
  drawing: SVGElement;
  /** As wide as the picture unless it has a width of its own. */
  width?: number;
  height: number;
  /** Colour and text of each entry. */
  key: [string, string][];
}

/** Colours and type of the page as it is now. */
interface Look {
  paper: string;
  ink: string;
  quiet: string;
  font: string;
}

/** One picture: the verdict, the drawings below each other, and the inputs they belong to. */
export function compose_picture(store: Store, blocks: Block[]): SVGElement {
  const writer = new Writer(look());
  const { estimate, format } = store;
  if (estimate) {
    writer.paragraph(headline(estimate, format), 18, 650);
    writer.paragraph(explanation(estimate, format), 12.5, 400, true);
  }
  for (const block of blocks) writer.block(block);
  const inputs = chosen_inputs(store).map(({ name, value }) => `${name} ${value}`);
  writer.space(6);
  writer.paragraph([...inputs, `vramgauge ${store.version}`].join("  ·  "), 11, 400, true);
  return writer.picture(t("app.title"));
}

/** The blocks of bars as they are drawn on the page. */
export function bar_blocks(bars: ParentNode): Block[] {
  return [...bars.querySelectorAll("figure")].flatMap((figure) => {
    const drawing = figure.querySelector<SVGElement>("svg.drawing");
    const [left, right] = [...figure.querySelectorAll("figcaption > span")].map(words);
    if (!drawing) return [];
    const key = key_of(figure.querySelector(".legend"));
    return [{ left: left ?? "", right: right ?? "", drawing, height: drawing.clientHeight, key }];
  });
}

/** The colour and the text of each entry of a legend. */
function key_of(legend: ParentNode | null): [string, string][] {
  return [...(legend?.querySelectorAll("li") ?? [])].map((entry) => {
    const swatch = entry.querySelector(".swatch");
    return [swatch ? getComputedStyle(swatch).backgroundColor : "none", words(entry)];
  });
}

const words = (element: Element): string =>
  (element.textContent ?? "").replace(/\s+/g, " ").trim();

function look(): Look {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  return {
    paper: token("--paper"),
    ink: token("--ink"),
    quiet: token("--ink-2"),
    font: token("--font").replace(/\s+/g, " "),
  };
}

/** Sets text and drawings below each other. */
class Writer {
  readonly #parts: SVGElement[] = [];
  readonly #measure = document.createElement("canvas").getContext("2d");
  #y = kMargin;

  constructor(private readonly look: Look) {}

  space(height: number): void {
    this.#y += height;
  }

  paragraph(text: string, size: number, weight: number, quiet = false): void {
    for (const line of this.#lines(text, size, weight)) {
      this.#y += size * kLineHeight;
      this.#text(line, kMargin, { size, weight, quiet });
    }
  }

  block({ left, right, drawing, width = kDrawingWidth, height, key }: Block): void {
    this.space(26);
    this.#text(left, kMargin, { size: 12.5, weight: 400, quiet: true });
    const end = { size: 12.5, weight: 400, quiet: true, anchor: "end" };
    this.#text(right, kMargin + kDrawingWidth, end);
    this.space(6);
    const copy = styled_copy(drawing);
    const place = { x: kMargin, y: this.#y, width, height };
    for (const [name, value] of Object.entries(place)) copy.setAttribute(name, String(value));
    this.#parts.push(copy);
    this.space(height);
    if (key.length > 0) this.#key(key);
  }

  #key(entries: [string, string][]): void {
    this.space(18);
    let x = kMargin;
    for (const [colour, text] of entries) {
      const swatch = { x, y: this.#y - 9, width: 9, height: 9, rx: 2, fill: colour };
      this.#parts.push(svg_element("rect", swatch));
      this.#text(text, x + 14, { size: 12, weight: 400, quiet: true });
      x += 14 + this.#width(text, 12, 400) + 16;
    }
  }

  picture(title: string): SVGElement {
    const height = Math.ceil(this.#y + kMargin);
    const { paper, font } = this.look;
    return svg_element(
      "svg",
      { width: kPictureWidth, height, viewBox: `0 0 ${kPictureWidth} ${height}`, "font-family": font },
      svg_element("title", {}, title),
      svg_element("rect", { width: "100%", height: "100%", fill: paper }),
      ...this.#parts,
    );
  }

  #text(
    text: string,
    x: number,
    style: { size: number; weight: number; quiet: boolean; anchor?: string },
  ): void {
    this.#parts.push(
      svg_element(
        "text",
        {
          x,
          y: this.#y,
          "font-size": style.size,
          "font-weight": style.weight,
          fill: style.quiet ? this.look.quiet : this.look.ink,
          ...(style.anchor && { "text-anchor": style.anchor }),
        },
        text,
      ),
    );
  }

  #width(text: string, size: number, weight: number): number {
    if (!this.#measure) return text.length * size * 0.6;
    this.#measure.font = `${weight} ${size}px ${this.look.font}`;
    return this.#measure.measureText(text).width;
  }

  /** Chinese breaks anywhere, other text between words. */
  #lines(text: string, size: number, weight: number): string[] {
    const lines: string[] = [];
    let line = "";
    for (const piece of text.match(/[\u2e80-\uffee]|[^\s\u2e80-\uffee]+\s*|\s+/g) ?? []) {
      if (line !== "" && this.#width((line + piece).trimEnd(), size, weight) > kDrawingWidth) {
        lines.push(line.trimEnd());
        line = "";
      }
      line += piece;
    }
    return [...lines, line.trimEnd()];
  }
}
