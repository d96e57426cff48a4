import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import ValueView from "./ValueView.vue";
import { layoutOf } from "./value_layout.ts";

test("layoutOf() chooses text, facts, a list or a table, and JSON for what nests deeper", () => {
  const kinds = [
    "a text",
    null,
    { words: 1200 },
    ["a", 1, null],
    [{ id: 1 }, { id: 2, name: "b" }],
    [{ id: 1 }, "mixed"],
    Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, index])),
  ].map((value) => layoutOf(value, 1).kind);
  expect(kinds).toEqual(["text", "text", "facts", "list", "table", "json", "json"]);
  expect(layoutOf({ deep: 1 }, 4).kind).toBe("json");
});

test("layoutOf() lays out a text that is JSON or Markdown as what it is", () => {
  expect(layoutOf('{"words":1200}', 1)).toEqual({ kind: "facts", facts: [["words", 1200]] });
  expect(layoutOf('[{"id":1610521604143693812}]', 2)).toMatchObject({
    kind: "table",
    table: { rows: [["1610521604143693812"]] },
  });
  expect(layoutOf("# Review\n\n- [x] audited", 2).kind).toBe("markdown");
  expect(layoutOf("{not json}", 1).kind).toBe("text");
});

test("a context is laid out, and its JSON is there on demand", () => {
  const value = { words: 1200, isDraft: true, tags: ["a", "b"], author: { name: "Ada" } };
  const view = mount(ValueView, { props: { value, label: "Context" } });
  const facts = view.findAll("dt").map((name) => name.text());
  expect(facts).toEqual(["words", "isDraft", "tags", "author", "name"]);
  expect(view.findAll("dd p").map((text) => text.text())).toEqual(["1200", "yes", "Ada"]);
  expect(view.get("details").attributes("open")).toBeUndefined();
  expect(JSON.parse(view.get("details pre").text())).toEqual(value);
});
