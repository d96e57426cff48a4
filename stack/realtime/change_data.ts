import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import type { TableShape } from "./table_shape.ts";

/** A change of a row of a published table. */
export interface TableChange {
  readonly schema: string;
  readonly table: string;
  readonly type: "INSERT" | "UPDATE" | "DELETE";
  /** In the format for clients: `2026-11-21T20:00:00.000Z`. */
  readonly committedAt: string;
  /** The published columns, with the names of their types in `pg_type`. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The new row; `null` for a delete. */
  readonly record: JsonObject | null;
  /** The columns of the old row in the replica identity; `null` for an insert. */
  readonly oldRecord: JsonObject | null;
}

/** Larger changes are sent without their long values, as on a hosted project. */
const MAX_CHANGE_CHARS = 1024 * 1024;
const LONG_VALUE_CHARS = 64;

/**
 * Creates the `data` of a `postgres_changes` message for one role and column selection.
 *
 * @param table The table as that role sees it.
 * @param selected Names of columns; `null` for all. Key columns are always included.
 */
export function changeData(
  table: TableShape,
  change: TableChange,
  selected: readonly string[] | null,
): JsonObject {
  const shown = new Set(
    table.columns
      .filter(({ name, isKey, isSelectable }) =>
        isSelectable && (selected === null || isKey || selected.includes(name))
      )
      .map(({ name }) => name),
  );
  const isTooLarge = JSON.stringify([change.record, change.oldRecord]).length > MAX_CHANGE_CHARS;
  const pick = (record: JsonObject) =>
    entriesOf(
      record,
      (name, value) =>
        shown.has(name) && (!isTooLarge || JSON.stringify(value).length <= LONG_VALUE_CHARS),
    );
  return {
    ...outline(change),
    columns: change.columns.filter(({ name }) => shown.has(name)).map((column) => ({ ...column })),
    ...(change.record === null ? {} : { record: pick(change.record) }),
    ...(change.oldRecord === null ? {} : { old_record: pick(visibleOldRecord(table, change)) }),
    errors: isTooLarge ? ["Error 413: Payload Too Large"] : null,
  };
}

/** Creates the `data` of a change that cannot be shown: only the reason, without the row. */
export function changeError(change: TableChange, error: string): JsonObject {
  return { ...outline(change), errors: [error] };
}

/** Policies cannot be evaluated for a deleted row, so with row security only its key is sent. */
function visibleOldRecord(table: TableShape, change: TableChange): JsonObject {
  const old = change.oldRecord ?? {};
  if (change.type !== "DELETE" || !table.hasRowSecurity) return old;
  const keys = table.columns.filter(({ isKey }) => isKey).map(({ name }) => name);
  return entriesOf(old, (name) => keys.includes(name));
}

function outline({ schema, table, type, committedAt }: TableChange): JsonObject {
  return { schema, table, type, commit_timestamp: committedAt };
}

function entriesOf(
  record: JsonObject,
  isWanted: (name: string, value: JsonValue) => boolean,
): JsonObject {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => isWanted(name, value)),
  );
}
