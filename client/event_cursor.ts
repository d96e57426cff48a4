import { SwarmClientError } from "./swarm_client_error.ts";

/** How far a reader of events is: the last page's cursor, and what it got of the next page. */
export interface EventPosition {
  /** Null at the beginning. */
  readonly page: string | null;
  /** Ids of events after `page` that the reader has, in their order. */
  readonly seen: readonly number[];
}

const CURSOR = /^([\d.]*)(?:_([0-9a-z]+(?:\.[0-9a-z]+)*))?$/;

/** A position as text that fits in an address. Ids are written as differences. */
export function printCursor({ page, seen }: EventPosition): string {
  if (seen.length === 0) return page ?? "";
  const sorted = [...seen].sort((a, b) => a - b);
  return `${page ?? ""}_${
    sorted.map((id, index) => (id - (sorted[index - 1] ?? 0)).toString(36)).join(".")
  }`;
}

/** The text of {@linkcode printCursor}, or a `next_cursor` of the platform. @throws SwarmClientError */
export function parseCursor(text: string | null | undefined): EventPosition {
  const [, page = "", differences] = CURSOR.exec(text ?? "") ?? refuse();
  let id = 0;
  const seen = (differences?.split(".") ?? []).map((gap) => id += parseInt(gap, 36));
  return { page: page === "" ? null : page, seen };
}

function refuse(): never {
  throw new SwarmClientError({
    code: "QUERY_INVALID",
    message: "Cannot read the events: after is not a cursor of an earlier read",
    hint: "Pass job.cursor unchanged, or nothing to read from the beginning.",
    status: 400,
  });
}
