import type { LocationQuery } from "vue-router";

/** The value of a query parameter; empty if it is missing or repeated. */
export function text(value: LocationQuery[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
