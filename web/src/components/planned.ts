import type { Envelope, Method, Methods, Scenario } from "../core/types";
import { StoreElement } from "./store_element";

/** The fields must have rested that long: a plan is many estimates, and typing stays quick. */
const kRestMs = 200;
/** What is further away from the view is planned when it comes near. */
const kAhead = "600px";

/** The fields have changed since the question was begun. */
class Outdated extends Error {}

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
  #is_near = false;
  readonly #near = new IntersectionObserver(
    (entries) => {
      this.#is_near = entries.at(-1)?.isIntersecting ?? true;
      if (this.#is_near && this.pending) this.#plan_soon();
    },
    { rootMargin: kAhead },
  );

  constructor() {
    super();
    this.reply = null;
    this.pending = false;
  }

  protected abstract plan(scenario: Scenario): Promise<Envelope<Result>>;

  /** Each question in a task of its own: a key that is pressed meanwhile is answered before the next one. */
  protected async ask<M extends Method>(
    method: M,
    request: Methods[M]["request"],
  ): Promise<Envelope<Methods[M]["result"]>> {
    const number = this.#number;
    await new Promise((done) => setTimeout(done));
    if (number !== this.#number) throw new Outdated();
    return this.store.core.ask(method, request);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#near.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#near.disconnect();
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
    ++this.#number;
    this.#plan_soon();
  }

  #plan_soon(): void {
    clearTimeout(this.#timer);
    if (this.#is_near) this.#timer = setTimeout(() => void this.#run(), kRestMs);
  }

  async #run(): Promise<void> {
    const number = ++this.#number;
    const reply = await this.plan(this.store.given).catch((failure: unknown) => {
      if (failure instanceof Outdated) return null;
      throw failure;
    });
    if (this.#number !== number || !reply) return;
    this.reply = reply;
    this.pending = false;
  }
}
