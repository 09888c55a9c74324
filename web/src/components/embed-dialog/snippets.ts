import type { Language, Theme } from "../../state/preferences";

export interface EmbedChoices {
  /** Where the page is. */
  home: string;
  /** The scenario, as the fragment of its link. */
  fragment: string;
  language: Language;
  theme: Theme;
  title: string;
}

const kFrameHeight = 320;

export function frame_snippet({ home, fragment, language, theme, title }: EmbedChoices): string {
  const address = `${home}?embed&lang=${language}&theme=${word(theme)}#${fragment}`;
  return `<iframe src="${escaped(address)}" title="${escaped(title)}" width="100%" height="${kFrameHeight}" style="border:0" loading="lazy"></iframe>`;
}

export const follow_snippet = (home: string): string => `addEventListener("message", ({ origin, source, data }) => {
  if (origin !== ${JSON.stringify(new URL(home).origin)} || data?.source !== "vramgauge") return;
  for (const frame of document.querySelectorAll("iframe"))
    if (frame.contentWindow === source) frame.height = data.height_px;
});`;

export function element_snippet({ home, fragment, language, theme }: EmbedChoices): string {
  const script = new URL("vram-gauge.js", home).href;
  return `<script type="module" src="${escaped(script)}"></script>
<vram-gauge scenario="${escaped(fragment)}" lang="${language}" theme="${word(theme)}"></vram-gauge>`;
}

/** What the element needs of the policy of the page that holds it. */
export function needed_policy(home: string): string {
  const { origin } = new URL(home);
  return `script-src ${origin} 'wasm-unsafe-eval'; connect-src ${origin}`;
}

const word = (theme: Theme): string => (theme === "system" ? "auto" : theme);

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
