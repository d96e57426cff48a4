import assert from "node:assert/strict";
import { withInferredKeys } from "../linking/to_linkable.ts";
import type { LinkableTable } from "../linking/linkable_table.ts";
import { linkTables } from "./choose_context.ts";
import { indexTables } from "../linking/rank_tables.ts";

function table(schema: string, name: string, columns: string): LinkableTable {
  return {
    schema,
    name,
    comment: null,
    columns: columns.split(" ").map((column) => ({ name: column, type: "text", comment: null })),
    primaryKey: [],
    foreignKeys: [],
  };
}

function chosenNames(question: string, tables: readonly LinkableTable[], count: number): string[] {
  const index = indexTables(withInferredKeys(tables));
  return linkTables(question, index, count).chosen.map((place) =>
    `${index.tables[place]?.schema}.${index.tables[place]?.name}`
  );
}

Deno.test("of similar tables, the one whose schema matches the whole question comes first", () => {
  const tables = ["crm", "shop", "farm"].flatMap((schema) => [
    table(schema, "orders", "id name amount"),
    table(schema, schema === "farm" ? "harvests" : "visits", "id name crop_kind"),
  ]);

  const chosen = chosenNames("What is the amount of orders of each harvest?", tables, 2);

  assert.deepEqual(chosen.slice(0, 2).sort(), ["farm.harvests", "farm.orders"]);
});

Deno.test("words that a whole schema shares do not change the order within it", () => {
  const tables = [
    table("public", "users", "id email"),
    table("public", "invoices", "id total user_id"),
  ];

  assert.deepEqual(chosenNames("total of the invoices", tables, 1), [
    "public.invoices",
    "public.users",
  ]);
});

Deno.test("keys are found in lowercase names with a prefix", () => {
  const tables = withInferredKeys([
    table("broker", "sbcustomer", "sbcustid sbcustname"),
    table("broker", "sbticker", "sbtickerid sbtickersymbol"),
    table("broker", "sbtransaction", "sbtxid sbtxcustid sbtxtickerid sbtxamount"),
    table("other", "stcustomer", "stcustid"),
    table("other", "stplace", "stplaceid"),
    table("other", "styear", "styearid"),
  ]);

  const keys = tables[2]?.foreignKeys.map(({ columns, target }) => [columns[0], target]);

  assert.deepEqual(keys, [["sbtxcustid", 0], ["sbtxtickerid", 1]]);
});
