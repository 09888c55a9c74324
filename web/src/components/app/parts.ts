import type { LoadPart } from "../later/later";

/** A part of the page below the answer that comes later than the rest. */
export interface PagePart {
  id: string;
  load: LoadPart;
}

/** In the order of the page. */
export const kParts: PagePart[] = [
  { id: "levers", load: () => import("../levers/levers") },
  { id: "inverse", load: () => import("../inverse/inverse") },
  { id: "charts", load: () => import("../charts/charts") },
  { id: "compare", load: () => import("../compare/compare") },
  { id: "finder", load: () => import("../finder/finder") },
  { id: "traffic", load: () => import("../traffic/traffic") },
  { id: "speed", load: () => import("../speed/speed") },
  { id: "run", load: () => import("../run-it/run_it") },
  { id: "check", load: () => import("../check-it/check_it") },
];

export const load_own_catalogue: LoadPart = () => import("../own-catalogue/own_catalogue");
