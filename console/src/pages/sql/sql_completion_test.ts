import { expect, test } from "vitest";
import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import type { ReadableTable } from "../../queries/tables.ts";
import { columnSource } from "./sql_completion.ts";

const TABLES: readonly ReadableTable[] = [["jobs", "status"], ["shelves", "label"]].map(
  ([name = "", column = ""]) => ({
    schema_name: "public",
    name,
    kind: "table",
    comment: null,
    columns: ["id", column].map((name) => ({ name, type: "text", comment: null })),
  }),
);

/** The columns that are offered at the end of the text before `|`. */
function offered(text: string): string[] | undefined {
  const at = text.indexOf("|");
  const state = EditorState.create({ doc: text.replace("|", "") });
  const result = columnSource(TABLES)(new CompletionContext(state, at, false));
  return result?.options.map(({ label }) => label);
}

test("columns of the tables that the statement names are offered, each once", () => {
  expect(offered("select st| from jobs")).toEqual(["id", "status"]);
  expect(offered("select * from jobs, shelves where l|")).toEqual(["id", "status", "label"]);
  expect(offered("select s|")).toEqual([]);
});

test("no column is offered after a dot or without a word", () => {
  expect(offered("select jobs.s| from jobs")).toBeUndefined();
  expect(offered("select | from jobs")).toBeUndefined();
});
