import type { LocationQuery, LocationQueryRaw } from "vue-router";

/** What a list of jobs is limited to. */
export interface JobFilters {
  readonly status: readonly string[];
  readonly agent: string;
  /** `key=value` */
  readonly metadata: string;
  /** The beginning of an id. */
  readonly id: string;
  /** A local day, such as `2026-11-22`. */
  readonly from: string;
  readonly to: string;
}

const ID_PREFIX = /^[0-9a-f-]{1,36}$/i;

/** Reads the filters of an address; what is malformed limits nothing. */
export function filtersOf(query: LocationQuery): JobFilters {
  return {
    status: text(query.status).split(",").filter(Boolean),
    agent: text(query.agent),
    metadata: text(query.metadata),
    id: ID_PREFIX.test(text(query.id)) ? text(query.id).toLowerCase() : "",
    from: day(query.from),
    to: day(query.to),
  };
}

/** The filters as the query of an address, without those that are not set. */
export function queryOf(filters: JobFilters): LocationQueryRaw {
  const { status, ...others } = filters;
  const query = Object.entries(others).filter(([, value]) => value !== "");
  return {
    ...(status.length === 0 ? {} : { status: status.join(",") }),
    ...Object.fromEntries(query),
  };
}

/** Splits `key=value`; null when it is not of this form. */
export function metadataPair(filter: string): { key: string; value: string } | null {
  const at = filter.indexOf("=");
  if (at < 1) return null;
  return { key: filter.slice(0, at).trim(), value: filter.slice(at + 1).trim() };
}

/** Midnight where the reader is, as a moment; `addDays` moves it. */
export function localDayStart(localDay: string, addDays = 0): string {
  const date = new Date(`${localDay}T00:00:00`);
  date.setDate(date.getDate() + addDays);
  return date.toISOString();
}

function day(value: LocationQuery[string] | undefined): string {
  const given = text(value);
  return /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : "";
}

function text(value: LocationQuery[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
