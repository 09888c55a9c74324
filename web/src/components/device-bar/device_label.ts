import type { Estimate } from "../../core/types";
import { device_name, t } from "../../i18n/i18n";

export interface DeviceLabel {
  name: string;
  /** Which of several it is, and whether it is the one that decides. */
  place: string;
}

/** Devices that are alike are one row (×8); where there are several rows, their ranks are named. */
export function device_label({ devices, verdict }: Estimate, index: number): DeviceLabel {
  const { name, count, first_rank, last_rank } = devices[index]!;
  const title = count > 1 ? `${device_name(name)} ×${count}` : device_name(name);
  if (devices.length === 1) return { name: title, place: "" };
  const ranks = t("bar.ranks", { count, first: first_rank, last: last_rank });
  const parts = [name === "host" ? "" : ranks, index === verdict.worst_device ? t("bar.worst") : ""];
  return { name: title, place: parts.filter((part) => part !== "").join(", ") };
}
