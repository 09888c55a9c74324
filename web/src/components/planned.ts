import type { Envelope, Scenario } from "../core/types";
import { StoreElement } from "./store_element";

/** The fields must have rested that long: a plan is many estimates, and typing stays quick. */
const kRestMs = 150;

/** A component that shows what the planner makes of the scenario, once it has not changed for a moment. */
export abstract class Planned<Result> extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    reply: { state: true },
    pending: { state: true },
  };
  declare reply: Envelope<Result> | null;
  /** The reply belongs to fields that have changed since. */
  declare pending: boolean;

  #asked: Scenario | null = null;
  /** Of the newest question; older answers come too late. */
  #number = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.reply = null;
    this.pending = false;
  }

  protected abstract plan(scenario: Scenario): Promise<Envelope<Result>>;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#asked = null;
  }

  protected override willUpdate(): void {
    super.willUpdate();
    const { given, stale, loading } = this.store;
    if (stale || loading || given === this.#asked) return;
    this.#asked = given;
    this.plan_again();
  }

  /** The same scenario, another question. */
  protected plan_again(): void {
    this.pending = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), kRestMs);
  }

  async #run(): Promise<void> {
    const number = ++this.#number;
    const reply = await this.plan(this.store.given);
    if (this.#number !== number) return;
    this.reply = reply;
    this.pending = false;
  }
}
