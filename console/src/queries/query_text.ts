import type { LocationQuery } from "vue-router";

/** The value of a query parameter; empty if it is missing or repeated. */
export function queryText(value: LocationQuery[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
