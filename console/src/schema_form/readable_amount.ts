import type { Json } from "../../../client/mod.ts";
import { formatBytes, formatCost } from "../format/numbers.ts";

/** A number in a unit that people read, by the unit at the end of its name; empty for others. */
export function readableAmount(name: string, value: Json | undefined): string {
  if (typeof value !== "number" || value < 0) return "";
  if (name.endsWith("_bytes")) return `= ${formatBytes(value)}`;
  return name.endsWith("_micro_usd") ? `= ${formatCost(value)}` : "";
}
