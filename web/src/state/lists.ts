import type { CoreClient } from "../core/client";
import type { CatalogueItem, CatalogueKind, CatalogueResult } from "../core/types";

/** More than any list of the catalogue holds. */
const kWholeList = 1000;

/** The lists of the catalogue, each asked for once. */
export class Lists {
  readonly #known = new Map<CatalogueKind, CatalogueItem[]>();

  constructor(private readonly core: CoreClient) {}

  whole(kind: CatalogueKind): CatalogueItem[] {
    const known = this.#known.get(kind) ?? this.search(kind, "", kWholeList).items;
    this.#known.set(kind, known);
    return known;
  }

  item(kind: CatalogueKind, id: string): CatalogueItem | undefined {
    return this.whole(kind).find((item) => item.id === id);
  }

  search(kind: CatalogueKind, query: string, limit: number): CatalogueResult {
    const reply = this.core.call("catalogue", { kind, query, limit });
    return reply.ok ? reply.result : { items: [], total: 0 };
  }

  /** The catalogue has changed. */
  forget(): void {
    this.#known.clear();
  }
}
