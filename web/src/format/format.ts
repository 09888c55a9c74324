/**
 * The one place where numbers become text and text becomes numbers. Byte counts stay exact integers
 * everywhere else; GiB and GB exist only here.
 */

export type ByteUnit = "GiB" | "GB";

export const kGibBytes = 2 ** 30;
const kUnitBytes: Record<ByteUnit, number> = { GiB: kGibBytes, GB: 1e9 };
const kSmallUnits: Record<ByteUnit, [number, [string, string, string]]> = {
  GiB: [1024, ["KiB", "MiB", "GiB"]],
  GB: [1000, ["kB", "MB", "GB"]],
};
const kSuffixes: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const kScales: [number, string][] = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "K"],
];

export class Formatter {
  readonly #cache = new Map<number, Intl.NumberFormat>();

  constructor(
    readonly locale: string,
    readonly unit: ByteUnit,
  ) {}

  /** A count with grouping: 65,536. */
  integer(value: number): string {
    return this.#fixed(0).format(value);
  }

  /** Bytes in the chosen unit without the unit's name: 39.60. */
  amount(bytes: number, digits = 2): string {
    return this.#fixed(digits).format(bytes / kUnitBytes[this.unit]);
  }

  /** Bytes in the chosen unit with its name: 39.6 GiB. */
  size(bytes: number, digits = 1): string {
    return `${this.amount(bytes, digits)}\u00a0${this.unit}`;
  }

  /** A difference that must not be shown as nothing: 0.04 GiB where one digit would say 0.0, 312 KiB where two would. */
  margin(bytes: number): string {
    const magnitude = Math.abs(bytes);
    const unit_bytes = kUnitBytes[this.unit];
    if (magnitude < unit_bytes / 200) return this.small_size(magnitude);
    return this.size(magnitude, magnitude < unit_bytes / 2 ? 2 : 1);
  }

  /** Every byte, for hovers and exports: 42,949,672,960 B. */
  exact(bytes: number): string {
    return `${this.integer(bytes)}\u00a0B`;
  }

  /** Small byte counts in the unit that keeps them short, of the same kind as the chosen one: 320 KiB, 328 kB. */
  small_size(bytes: number): string {
    const [base, names] = kSmallUnits[this.unit];
    if (bytes < base) return this.exact(bytes);
    const step = bytes < base ** 2 ? 1 : bytes < base ** 3 ? 2 : 3;
    return `${this.#up_to(2).format(bytes / base ** step)}\u00a0${names[step - 1]}`;
  }

  /** The share of a total: 49 %, or <1 % where rounding would hide the part. */
  share(part: number, whole: number): string {
    if (whole <= 0) return "";
    const percent = (100 * part) / whole;
    return part > 0 && percent < 0.5 ? "<1\u00a0%" : `${this.integer(Math.round(percent))}\u00a0%`;
  }

  /** A parameter count: 70.6 B. */
  parameters(count: number): string {
    const [scale, name] = kScales.find(([threshold]) => count >= threshold) ?? [1, ""];
    return `${this.#significant(3).format(count / scale)}\u00a0${name}`.trimEnd();
  }

  /** A multiple of a power of two as people write it: 64K, 1M; other counts in full. */
  tokens(count: number): string {
    return compact_tokens(count) ?? this.integer(count);
  }

  /** A tick of a memory axis. */
  tick(value: number): string {
    return this.#up_to(2).format(value);
  }

  bytes_per_unit(): number {
    return kUnitBytes[this.unit];
  }

  #fixed(digits: number): Intl.NumberFormat {
    return this.#format(digits, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }

  #up_to(digits: number): Intl.NumberFormat {
    return this.#format(100 + digits, { maximumFractionDigits: digits });
  }

  #significant(digits: number): Intl.NumberFormat {
    return this.#format(200 + digits, { maximumSignificantDigits: digits });
  }

  #format(key: number, options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const known = this.#cache.get(key) ?? new Intl.NumberFormat(this.locale, options);
    this.#cache.set(key, known);
    return known;
  }
}

/** 65536 -> "64K", 1048576 -> "1M"; null where that would lose digits. */
export function compact_tokens(count: number): string | null {
  if (count >= 1024 ** 2 && count % 1024 ** 2 === 0) return `${count / 1024 ** 2}M`;
  if (count >= 1024 && count % 1024 === 0) return `${count / 1024}K`;
  return null;
}

/** The text of a number as it stands in a field: 64K for tokens, plain digits otherwise. */
export function field_text(value: number, compact: boolean): string {
  return (compact ? compact_tokens(value) : null) ?? String(value);
}

/**
 * Reads "65536", "65,536", "8k", "128K", "1M" or "1.5M"; k, M and G count in 1024s as context lengths
 * do. Null where the text is not such a number.
 */
export function parse_integer(text: string): number | null {
  const match = /^(\d[\d,_\s]*)(\.\d+)?\s*([kmg]?)$/i.exec(to_ascii_digits(text));
  if (!match) return null;
  const [, whole = "", fraction = "", suffix = ""] = match;
  const value =
    Number(whole.replace(/[,_\s]/g, "") + fraction) * (kSuffixes[suffix.toLowerCase()] ?? 1);
  return Number.isSafeInteger(value) ? value : null;
}

/** Reads a plain decimal number such as "79.65" or "1.15"; null where the text is not one. */
export function parse_decimal(text: string): number | null {
  const plain = to_ascii_digits(text);
  return /^-?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : null;
}

/** Input methods for Chinese give full-width digits and stops. */
function to_ascii_digits(text: string): string {
  return text
    .trim()
    .replace(/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0));
}

/** Round axis steps: about `count` ticks of 1, 2 or 5 times a power of ten, from 0 to below `max`. */
export function axis_ticks(max: number, count: number): number[] {
  if (!(max > 0)) return [0];
  const raw = max / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, index) => index * step);
}
