import assert from "node:assert/strict";
import type { DocumentedTable } from "./table_rights.ts";
import { tablesPage } from "./tables_page.ts";

const TABLE: DocumentedTable = {
  name: "notes",
  kind: "table",
  comment: "What *users* wrote.",
  columns: [
    { name: "id", type: "uuid", comment: null, userRights: ["select"] },
    { name: "text", type: "text", comment: "Up to 10 kB.", userRights: ["select", "update"] },
    { name: "secret_name", type: "text", comment: "a | b", userRights: [] },
  ],
  userMayDelete: true,
  serviceRights: ["select"],
  policies: [{ name: "users read their notes", comment: "Their own." }],
};

Deno.test("tablesPage() lists each column's privileges and counts the hidden columns", () => {
  const page = tablesPage([TABLE]);

  assert.match(page, /^Users: read, update, delete \(1 hidden column\)\. Secret key: read\.$/m);
  assert.match(page, /^\| `text` \| text \| read, update \| Up to 10 kB\. \|$/m);
  assert.match(page, /^\| `secret_name` \| text \| {2}\| a \\\| b \|$/m);
  assert.match(page, /^- Policy "users read their notes": Their own\.$/m);
});

Deno.test("tablesPage() shows a comment unchanged", () => {
  assert.match(tablesPage([TABLE]), /^What \\\*users\\\* wrote\.$/m);
});

Deno.test("tablesPage() reports a view without privileges for users", () => {
  const columns = TABLE.columns.map((column) => ({ ...column, userRights: [] }));
  const view = { ...TABLE, kind: "view", columns, userMayDelete: false, policies: [] } as const;

  assert.match(tablesPage([view]), /^View\. .*\n\nUsers: have no rights\. Secret key: read\.$/m);
});
