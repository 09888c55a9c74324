import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { compose_picture } from "../../report/picture";
import { file_stem, save_file, text_file } from "../../report/save";
import { png_of, svg_text } from "../../report/svg";
import { base_styles, button_styles } from "../../styles/shared";
import type { PlotDrawing } from "../charts/plot";
import { how } from "../derivation/how";
import { StoreElement } from "../store_element";

const kPngScale = 2;
/** Frames are drawn for at most this width; a wider place shows them as wide. */
const kMinWidth = 260;
const kAhead = "200px";

/** A drawing, and in words what it says; the words of its own, else those of `mark_here`. */
export interface Drawn {
  drawing: PlotDrawing;
  summary?: string;
}

/**
 * A chart: title, drawing, the same in words, and the drawing as a file. It is drawn after the frame in
 * which the answer changed, so that typing never waits for it. Where only the present point has moved, only
 * its mark is drawn anew.
 */
export abstract class Chart extends StoreElement {
  static override properties = { ...StoreElement.properties, reason: { state: true } };
  static override styles = [
    base_styles,
    button_styles,
    css`
      figure {
        margin: 0;
      }
      .head {
        display: flex;
        gap: 10px;
        align-items: baseline;
        margin-bottom: 6px;
      }
      h2 {
        flex: 1;
        font-size: 13px;
        font-weight: 600;
      }
      .head .text-button {
        color: var(--ink-3);
        font-size: 11.5px;
      }
      .place {
        min-height: var(--chart-height, 240px);
      }
      .place > svg {
        display: block;
        overflow: visible;
        font: 11px var(--font);
        font-variant-numeric: tabular-nums;
      }
      text {
        fill: var(--ink-2);
      }
      .here text {
        fill: var(--ink);
      }
      [data-stale] {
        opacity: 0.4;
      }
      .reason {
        color: var(--ink-2);
        font-size: 12.5px;
      }
    `,
  ];
  /** Why there is nothing to draw. */
  declare reason: string;
  protected abstract readonly id_name: string;

  #frame = 0;
  #width = 0;
  #drawing: PlotDrawing | null = null;
  /** What it was drawn from. */
  #drawn_from = "";
  /** What is out of view is drawn when it comes into view. */
  #is_near = false;
  readonly #near = new IntersectionObserver(
    (entries) => {
      this.#is_near = entries.at(-1)?.isIntersecting ?? true;
      this.#draw_soon();
    },
    { rootMargin: kAhead },
  );
  readonly #resize = new ResizeObserver(([entry]) => {
    const width = Math.max(kMinWidth, Math.floor(entry?.contentRect.width ?? 0));
    if (width === this.#width) return;
    this.#width = width;
    this.#draw_soon();
  });

  constructor() {
    super();
    this.reason = "";
  }

  /** What is drawn, at this width; a text where there is nothing. */
  protected abstract draw(width: number): Drawn | string;

  /** What the drawing depends on beside the width; undefined where on everything. */
  protected drawn_from(): string | undefined {
    return undefined;
  }

  /** Marks the present point on the drawing, which may have a mark already; says the whole in words. */
  protected mark_here(_drawing: PlotDrawing): string {
    return "";
  }

  /** What follows the drawing: a key, a hint. */
  protected footer(): TemplateResult | typeof nothing {
    return nothing;
  }

  #title(): string {
    return t(`chart.${this.id_name}.title`);
  }

  protected override firstUpdated(): void {
    const place = this.renderRoot.querySelector(".place");
    if (place) this.#resize.observe(place);
    this.#near.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize.disconnect();
    this.#near.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  protected override updated(changed: PropertyValues): void {
    if (!changed.has("reason")) this.#draw_soon();
  }

  protected override render(): TemplateResult {
    const stale = this.store.stale || this.store.loading;
    return html`<figure aria-labelledby="title">
      <div class="head">
        <h2 id="title">${this.#title()}</h2>
        ${this.#save_button("svg")} ${this.#save_button("png")}
      </div>
      <div class="place" ?data-stale=${stale} ?hidden=${this.reason !== ""}></div>
      <p class="reason">${this.reason}</p>
      ${this.footer()} ${how(this.id_name)}
    </figure>`;
  }

  #save_button(kind: "svg" | "png"): TemplateResult {
    const title = t("chart.save", { title: this.#title(), kind: t(`chart.${kind}`) });
    return html`<button
      class="text-button"
      title=${title}
      aria-label=${title}
      data-save=${kind}
      ?disabled=${this.reason !== "" || this.store.stale}
      @click=${() => void this.#save(kind)}
    >
      ${t(`chart.${kind}`)}
    </button>`;
  }

  #draw_soon(): void {
    cancelAnimationFrame(this.#frame);
    if (this.#width > 0 && this.#is_near) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    const place = this.renderRoot.querySelector(".place");
    if (!place || this.store.loading || this.store.stale) return;
    const basis = this.drawn_from();
    const from = basis === undefined ? "" : `${this.#width} ${this.store.renewals} ${basis}`;
    if (this.#drawing && this.reason === "" && from !== "" && from === this.#drawn_from) {
      this.#drawing.setAttribute("aria-label", this.mark_here(this.#drawing));
      return;
    }
    this.#drawn_from = from;
    const drawn = this.draw(this.#width);
    this.reason = typeof drawn === "string" ? t("chart.none", { reason: drawn }) : "";
    if (typeof drawn !== "string") this.#place(place, drawn);
  }

  #place(place: Element, { drawing, summary }: Drawn): void {
    const had_focus = this.#drawing !== null && this.shadowRoot?.activeElement === this.#drawing;
    this.#drawing = drawing;
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", summary ?? this.mark_here(drawing));
    place.replaceChildren(drawing);
    this.drawn(drawing);
    if (had_focus) drawing.focus();
  }

  /** For those who listen to their drawing. */
  protected drawn(_drawing: SVGSVGElement): void {}

  async #save(kind: "svg" | "png"): Promise<void> {
    const drawing = this.#drawing;
    if (!drawing) return;
    const { width, height } = drawing.getBoundingClientRect();
    const block = { left: this.#title(), right: "", drawing, width, height, key: [] };
    const picture = compose_picture(this.store, [block]);
    const name = `${file_stem(this.store)}-${this.id_name}.${kind}`;
    if (kind === "svg") save_file(name, text_file(svg_text(picture), "image/svg+xml"));
    else save_file(name, await png_of(picture, kPngScale));
  }
}
