import type { LoadPart } from "../later/later";

/** A part of the page below the answer that comes later than the rest. */
export interface PagePart {
  id: string;
  load: LoadPart;
}

/** In the order of the page. */
export const kParts: PagePart[] = [{ id: "charts", load: () => import("../charts/charts") }];

export const load_own_catalogue: LoadPart = () => import("../own-catalogue/own_catalogue");
