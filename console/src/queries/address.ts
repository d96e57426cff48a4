import type { LocationQuery } from "vue-router";

/** The one text of a parameter of the address; empty where there is none, or several. */
export function text(value: LocationQuery[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
