import { explanation, headline } from "../components/verdict/verdict_text";
import type { Amount, DeviceBreakdown, Estimate } from "../core/types";
import type { Formatter } from "../format/format";
import { device_name, t, t_core } from "../i18n/i18n";
import type { Store } from "../state/store";
import { chosen_inputs } from "./inputs";

/** The answer for a wiki or an issue: verdict, inputs, the table of every device, the link. */
export function markdown_report(store: Store, estimate: Estimate): string {
  const { format } = store;
  const inputs = chosen_inputs(store).map(({ name, value }) => `${name}: ${value}`);
  return `${[
    `**${plain(headline(estimate, format))}**`,
    plain(explanation(estimate, format)),
    plain(inputs.join(" · ")),
    ...estimate.devices.map((device) => device_table(device, format)),
    `[${t("embed.open")}](${store.link().replaceAll("(", "%28").replaceAll(")", "%29")})`,
  ].join("\n\n")}\n`;
}

function device_table(device: DeviceBreakdown, format: Formatter): string {
  const name = device_name(device.name);
  const title = device.count > 1 ? `${name} ×${device.count}` : name;
  const head = [t("table.term"), format.unit, t("table.range"), t("table.known"), t("share.exact")];
  const row = (term: string, amount: Amount): string[] => [
    term,
    format.amount(amount.bytes),
    range(amount, format),
    t_core("basis", amount.basis),
    format.integer(amount.bytes),
  ];
  const rows = [
    ...device.terms.map((term) => row(t_core("terms", term.id), term)),
    row(`**${t("table.total")}**`, device.total),
  ];
  return [`${plain(title)}:\n`, line(head), "| --- | ---: | ---: | --- | ---: |", ...rows.map(line)].join("\n");
}

function range({ low_bytes, high_bytes }: Amount, format: Formatter): string {
  if (high_bytes <= low_bytes) return "";
  return `${format.amount(low_bytes)} – ${format.amount(high_bytes)}`;
}

const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;

/** Names come from configurations: none of them may become markup. */
const plain = (text: string): string => text.replaceAll("\u00a0", " ").replace(/[\\`*_[\]<>|#]/g, "\\$&");
