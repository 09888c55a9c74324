import type { Amount, DeviceBreakdown, Estimate } from "../core/types";
import type { Store } from "../state/store";

/** Everything that the answer holds, as the core gave it. */
export function json_report(store: Store): string {
  const { version, given, estimate, warnings } = store;
  const report = { program: "vramgauge", version, link: store.link(), scenario: given, estimate, warnings };
  return `${JSON.stringify(report, null, 2)}\n`;
}

const kColumns = [
  "device",
  "count",
  "first_rank",
  "last_rank",
  "term",
  "bytes",
  "low_bytes",
  "high_bytes",
  "basis",
  "source",
];

/** The terms of every device in exact bytes, a line each; names are the same in every language. */
export function csv_report({ devices }: Estimate): string {
  const rows = devices.flatMap(device_rows);
  return [kColumns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function device_rows(device: DeviceBreakdown): (string | number)[][] {
  const row = (term: string, amount: Amount, source: string): (string | number)[] => [
    device.name,
    device.count,
    device.first_rank,
    device.last_rank,
    term,
    amount.bytes,
    amount.low_bytes,
    amount.high_bytes,
    amount.basis,
    source,
  ];
  const fixed = (bytes: number): Amount => ({
    bytes,
    low_bytes: bytes,
    high_bytes: bytes,
    basis: "",
  });
  return [
    ...device.terms.map((term) => row(term.id, term, term.source)),
    row("total", device.total, ""),
    row("usable", fixed(device.usable_bytes), ""),
    row("capacity", fixed(device.capacity_bytes), ""),
  ];
}

/** Quoted where it must be. A text that a spreadsheet would compute is marked as text. */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
