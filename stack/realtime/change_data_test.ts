import { deepEqual } from "node:assert/strict";
import { changeData, changeError, type TableChange } from "./change_data.ts";
import type { TableShape } from "./table_shape.ts";

const TABLE: TableShape = {
  schema: "public",
  name: "notes",
  quoted: "public.notes",
  hasRowSecurity: true,
  columns: [
    { name: "id", quoted: "id", type: "bigint", isKey: true, isSelectable: true },
    { name: "title", quoted: "title", type: "text", isKey: false, isSelectable: true },
    { name: "secret", quoted: "secret", type: "text", isKey: false, isSelectable: false },
  ],
};

const UPDATE: TableChange = {
  schema: "public",
  table: "notes",
  type: "UPDATE",
  committedAt: "2026-11-21T20:00:00.000Z",
  columns: [
    { name: "id", type: "int8" },
    { name: "title", type: "text" },
    { name: "secret", type: "text" },
  ],
  record: { id: 1, title: "new", secret: "hush" },
  oldRecord: { id: 1, title: "old", secret: "hush" },
};

Deno.test("columns that the role may not select are absent from all parts of the data", () => {
  deepEqual(changeData(TABLE, UPDATE, null), {
    schema: "public",
    table: "notes",
    type: "UPDATE",
    commit_timestamp: "2026-11-21T20:00:00.000Z",
    columns: [{ name: "id", type: "int8" }, { name: "title", type: "text" }],
    record: { id: 1, title: "new" },
    old_record: { id: 1, title: "old" },
    errors: null,
  });
});

Deno.test("a selection includes the key", () => {
  const { record, columns } = changeData(TABLE, UPDATE, []);

  deepEqual([record, columns], [{ id: 1 }, [{ name: "id", type: "int8" }]]);
});

Deno.test("a delete with row level security contains only the key, and the old row without it", () => {
  const deletion: TableChange = { ...UPDATE, type: "DELETE", record: null };

  deepEqual(changeData(TABLE, deletion, null).old_record, { id: 1 });
  deepEqual(changeData({ ...TABLE, hasRowSecurity: false }, deletion, null).old_record, {
    id: 1,
    title: "old",
  });
});

Deno.test("a change above one megabyte omits its long values and reports it", () => {
  const large = { ...UPDATE, record: { id: 1, title: "x".repeat(1024 * 1024) } };

  const { record, errors } = changeData(TABLE, large, null);

  deepEqual([record, errors], [{ id: 1 }, ["Error 413: Payload Too Large"]]);
});

Deno.test("an error reveals nothing about the row", () => {
  deepEqual(changeError(UPDATE, "Error 401: Unauthorized"), {
    schema: "public",
    table: "notes",
    type: "UPDATE",
    commit_timestamp: "2026-11-21T20:00:00.000Z",
    errors: ["Error 401: Unauthorized"],
  });
});
