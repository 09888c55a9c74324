import { page_error, type CoreClient } from "../core/client";
import type {
  DescribeResult,
  Diag,
  Envelope,
  Estimate,
  FieldInfo,
  JsonValue,
  Scenario,
} from "../core/types";
import { Formatter, type ByteUnit } from "../format/format";
import { missing_texts } from "../i18n/engine_texts";
import {
  describe_document,
  has_error_texts,
  load_error_texts,
  load_language,
  use_error_texts,
  use_language,
} from "../i18n/i18n";
import { settle_custom_memory } from "./custom_memory";
import { field_of, has_place, is_format_refused, kModelKeys, type Finding } from "./findings";
import { Lists } from "./lists";
import { AddressBar, decode_link, encode_link, page_address, type DecodedLink } from "./link";
import {
  apply_theme,
  write_preference,
  type Language,
  type Preferences,
  type Theme,
} from "./preferences";

/**
 * What the page shows: the fields that were given, the answer to them and what is wrong with them.
 * Every change is computed at once; "change" is dispatched after it.
 */
export class Store extends EventTarget {
  given: Scenario = {};
  /** The newest answer. Kept, and marked stale, while the fields hold something that has no answer. */
  estimate: Estimate | null = null;
  stale = false;
  loading = false;
  errors: Diag[] = [];
  warnings: Diag[] = [];
  /** What the link in the address bar said and was not understood. */
  link_findings: Diag[] = [];
  /** Set when the core trapped: the link that shows the problem. */
  crash_link: string | null = null;
  /** Why the catalogue that the page's configuration names is not there. */
  catalogue_findings: Diag[] = [];
  /** How often the core's catalogue was added to. */
  renewals = 0;
  /** Opens the newer version of the page, where there is one. */
  update: (() => void) | null = null;
  readonly version: string;
  form!: DescribeResult;
  fields!: ReadonlyMap<string, FieldInfo>;
  format: Formatter;
  readonly lists: Lists;

  /** Null where the scenario is somebody else's, as on a foreign page. */
  #address: AddressBar | null = null;
  /** The engine was changed: a format it does not load gives way to the checkpoint's own. */
  #may_settle_format = false;
  /** Text in a field that is not a value at all, by field key. */
  readonly #unreadable = new Map<string, Diag>();

  constructor(
    readonly core: CoreClient,
    readonly preferences: Preferences,
    public language: Language,
    /** Where the page itself is, for links. */
    readonly home: string = page_address(),
  ) {
    super();
    this.lists = new Lists(core);
    this.#describe();
    const version = core.call("version", {});
    this.version = version.ok ? version.result.version : "";
    use_error_texts(this.form.error_codes);
    this.format = new Formatter(language, preferences.unit);
  }

  #describe(): void {
    const described = this.core.call("describe", {});
    if (!described.ok) throw new Error("describe failed");
    this.form = described.result;
    this.fields = new Map(this.form.fields.map((field) => [field.key, field]));
  }

  /** Follows the address bar, and keeps the scenario in it. */
  start(): void {
    const address = new AddressBar(this.core);
    this.#address = address;
    const open = (): void => {
      const link = address.read();
      if (link) this.#open(link);
    };
    addEventListener("hashchange", () => {
      if (this.core.is_complete && has_error_texts()) open();
      else void Promise.all([this.complete(), load_error_texts()]).then(open, open);
    });
    open();
    if (!this.estimate && !this.loading) this.#compute();
  }

  /** Opens the scenario of a link, given whole or as its fragment. */
  open_link(link: string): void {
    this.#open(decode_link(this.core, link.slice(link.indexOf("#") + 1)));
  }

  /** Sets one field; undefined gives it back to the default. */
  set(key: string, value: JsonValue | undefined): void {
    this.set_all({ [key]: value });
  }

  set_all(values: Record<string, JsonValue | undefined>): void {
    const next: Scenario = { ...this.given };
    for (const [key, value] of Object.entries(values)) {
      this.#unreadable.delete(key);
      // Empty beside the one that is meant.
      if (kModelKeys.includes(key) && value === "") continue;
      if (kModelKeys.includes(key)) for (const other of kModelKeys) delete next[other];
      if (value === undefined) delete next[key];
      else next[key] = value;
    }
    if ("gpu" in values) settle_custom_memory(next, this.estimate);
    this.#may_settle_format = "engine" in values;
    this.given = next;
    this.#address?.write_soon(next);
    this.#compute();
  }

  /** The field holds text that is no value; the answer then is stale until it does. */
  set_unreadable(key: string, text: string): void {
    this.#unreadable.set(key, {
      ...page_error("page.not_a_number", `/${key}`, { text }).errors[0]!,
    });
    this.#compute();
  }

  /** The field's value: what was given, else what the core resolved it to. */
  value(key: string): JsonValue | undefined {
    return this.given[key] ?? this.resolved(key);
  }

  /** What the core computed with; differs from the given value only where none was given. */
  resolved(key: string): JsonValue | undefined {
    return this.estimate?.scenario[key] ?? this.fields.get(key)?.default;
  }

  error_at(key: string): Diag | undefined {
    return this.errors.find((error) => field_of(error) === key);
  }

  /** What stands beside a field: its error, else a warning about it. */
  finding_at(key: string): Finding | undefined {
    const error =
      this.error_at(key) ?? (key === "model" ? this.error_at("model_config") : undefined);
    if (error) return { severity: "error", diag: error };
    const warning = this.warnings.find(
      (candidate) => has_place(candidate) && field_of(candidate) === key,
    );
    return warning && { severity: "warning", diag: warning };
  }

  /** Warnings about the answer. What was assumed of the model is listed with the model. */
  remarks(): Diag[] {
    return this.warnings.filter((warning) => warning.code !== "model.assumed_default");
  }

  /** The address that opens this scenario. */
  link(): string {
    return `${this.home}#${encode_link(this.core, this.given) ?? ""}`;
  }

  offer_update(update: (() => void) | null): void {
    this.update = update;
    this.#changed();
  }

  /** Brings what the core does not know yet; the answer stands, there is only more to choose from. */
  async complete(): Promise<void> {
    await this.core.complete();
    this.lists.forget();
    this.#changed();
  }

  /** Something was added to the core's catalogue. */
  renew_catalogue(): void {
    this.#describe();
    this.lists.forget();
    ++this.renewals;
    // A new object: whoever follows the scenario asks again.
    this.given = { ...this.given };
    this.#compute();
  }

  dismiss_link_findings(): void {
    this.link_findings = [];
    this.#changed();
  }

  async choose_language(language: Language): Promise<void> {
    try {
      await load_language(language);
      this.language = language;
      use_language(language);
      describe_document();
      write_preference("language", language);
    } catch {
      // The texts could not be fetched: the page stays in the language it has, and the switch shows it.
    }
    this.#renew_format();
  }

  choose_unit(unit: ByteUnit): void {
    write_preference("unit", unit);
    this.show_in(unit);
  }

  /** The same for this visit only. */
  show_in(unit: ByteUnit): void {
    this.preferences.unit = unit;
    this.#renew_format();
  }

  choose_theme(theme: Theme): void {
    this.preferences.theme = theme;
    write_preference("theme", theme);
    apply_theme(theme);
    this.#changed();
  }

  #renew_format(): void {
    this.format = new Formatter(this.language, this.preferences.unit);
    this.#changed();
  }

  #open({ scenario, findings }: DecodedLink): void {
    this.given = scenario;
    this.link_findings = findings;
    this.#unreadable.clear();
    this.#compute();
  }

  #compute(): void {
    const unreadable = [...this.#unreadable.values()];
    const reply = this.#is_answerable() ? this.core.call("estimate", { scenario: this.given }) : null;
    const fetch_missing = reply
      ? (this.core.missing_part(reply) ?? missing_texts(this, reply))
      : () => this.complete();
    this.loading = fetch_missing !== null;
    if (fetch_missing) void this.#compute_after(fetch_missing);
    else if (reply) this.#show(reply, unreadable);
    this.#changed();
  }

  #is_answerable(): boolean {
    return this.core.is_complete || Object.keys(this.given).length === 0;
  }

  #show(reply: Envelope<Estimate>, unreadable: Diag[]): void {
    if (this.#may_settle_format && is_format_refused(reply))
      return this.set("weight_format", "auto");
    if (reply.ok) this.estimate = reply.result;
    this.warnings = reply.warnings;
    this.errors = [...unreadable, ...(reply.ok ? [] : reply.errors)];
    this.stale = this.errors.length > 0;
    const crashed = this.errors.some((error) => error.code === "page.internal_error");
    this.crash_link = crashed ? location.href : null;
    if (crashed) void this.#name_crash();
  }

  /** The restarted core writes the link to the scenario that stopped it. */
  async #name_crash(): Promise<void> {
    await this.core.ready();
    if (this.crash_link === null) return;
    this.crash_link = this.link();
    this.#changed();
  }

  async #compute_after(fetch_missing: () => Promise<void>): Promise<void> {
    const asked = this.given;
    try {
      await fetch_missing();
    } catch (failure) {
      if (this.given !== asked) return;
      this.loading = false;
      this.#show(page_error("page.fetch_failed", "/model", { detail: String(failure) }), []);
      this.#changed();
      return;
    }
    this.#compute();
  }

  #changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}
