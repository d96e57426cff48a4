import type { LocationQuery, LocationQueryRaw } from "vue-router";
import { queryText } from "./query_text.ts";

/** Whose jobs a list shows: the user's own, or those of all users, to an operator. */
export type Whose = "own" | "all";

/** The filters of a list of jobs. */
export interface JobFilters {
  readonly status: readonly string[];
  readonly agent: string;
  /** The id or email address of an account, in the list of all jobs. */
  readonly owner: string;
  readonly errorCode: string;
  /** The cause of a failure as the groups of failures name it, in the list of all jobs. */
  readonly cause: string;
  /** `key=value`, several separated by commas. */
  readonly metadata: string;
  /** The beginning of an id, its end after `…`, or both, as lists show ids. */
  readonly id: string;
  /** A local day, such as `2026-11-22`. */
  readonly from: string;
  readonly to: string;
  /** In US dollars, as the user enters it. */
  readonly minCost: string;
  readonly maxCost: string;
}

const ID_PART = /^(?=.)([0-9a-f-]{0,36})(?:…([0-9a-f]{0,12}))?$/;
const MICRO = 1_000_000;

/** Reads the filters from an address; a malformed filter is ignored, as are an owner and a cause among `own` jobs. */
export function filtersOf(query: LocationQuery, whose: Whose = "own"): JobFilters {
  // Three dots are easier to type than an ellipsis.
  const id = queryText(query.id).toLowerCase().replace("...", "…");
  return {
    status: queryText(query.status).split(",").filter(Boolean),
    agent: queryText(query.agent),
    owner: whose === "all" ? queryText(query.owner) : "",
    errorCode: queryText(query.errorCode),
    cause: whose === "all" ? queryText(query.cause) : "",
    metadata: queryText(query.metadata),
    id: ID_PART.test(id) ? id : "",
    from: dayOf(query.from),
    to: dayOf(query.to),
    minCost: amountOf(query.minCost),
    maxCost: amountOf(query.maxCost),
  };
}

/** The filters as the query of an address, without unset ones. */
export function queryOf(filters: JobFilters): LocationQueryRaw {
  const { status, ...others } = filters;
  const query = Object.entries(others).filter(([, value]) => value !== "");
  return {
    ...(status.length === 0 ? {} : { status: status.join(",") }),
    ...Object.fromEntries(query),
  };
}

/** The beginning and the end of the ID in the filter; empty for any. */
export function idEnds(filter: string): { readonly prefix: string; readonly suffix: string } {
  const [, prefix = "", suffix = ""] = ID_PART.exec(filter) ?? [];
  return { prefix, suffix };
}

/** The pairs of `key=value, key=value`; malformed pairs are omitted. */
export function metadataPairs(filter: string): Record<string, string> {
  const pairs = filter.split(",").flatMap((part): [string, string][] => {
    const at = part.indexOf("=");
    const key = part.slice(0, Math.max(at, 0)).trim();
    return key === "" ? [] : [[key, part.slice(at + 1).trim()]];
  });
  return Object.fromEntries(pairs);
}

/** Converts an amount in US dollars to millionths. */
export function microUsdOf(amount: string): number {
  return Math.round(Number(amount) * MICRO);
}

/** Midnight in the user's time zone as a moment; `addDays` moves it. */
export function localDayStart(localDay: string, addDays = 0): string {
  const date = new Date(`${localDay}T00:00:00`);
  date.setDate(date.getDate() + addDays);
  return date.toISOString();
}

/** A day from an address; empty for anything else. */
export function dayOf(value: LocationQuery[string] | undefined): string {
  const given = queryText(value);
  return /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : "";
}

/** A local minute from an address; empty for anything else. */
export function minuteOf(value: LocationQuery[string] | undefined): string {
  const given = queryText(value);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : "";
}

function amountOf(value: LocationQuery[string] | undefined): string {
  const given = queryText(value).replace(/^\$/, "");
  return /^\d{1,9}(\.\d{1,6})?$/.test(given) ? given : "";
}
