import { deepEqual, match } from "node:assert/strict";
import { parseChangeFilter } from "./change_filter.ts";

function read(filter: string) {
  const parsed = parseChangeFilter(filter);
  return parsed.kind === "invalid" ? parsed.reason : parsed.conditions.map(
    ({ column, operator, value, isNegated }) => [column, isNegated, operator, value],
  );
}

Deno.test("a missing, empty or blank filter has no conditions", () => {
  deepEqual([undefined, null, "", "  "].map(parseChangeFilter), [
    { kind: "filter", conditions: [] },
    { kind: "filter", conditions: [] },
    { kind: "filter", conditions: [] },
    { kind: "filter", conditions: [] },
  ]);
});

Deno.test("conditions are joined by commas and negated with not.", () => {
  deepEqual(read("id=gt.5, title=not.like.a%,at=is.null"), [
    ["id", false, "gt", "5"],
    ["title", true, "like", "a%"],
    ["at", false, "is", "null"],
  ]);
});

Deno.test("a value keeps its dots and equal signs", () => {
  deepEqual(read("url=eq.https://a.b?c=d"), [["url", false, "eq", "https://a.b?c=d"]]);
});

Deno.test("quoted values can contain commas, quotes and parentheses", () => {
  deepEqual(read('a=eq."x,y",b=in.("p,q",r),c=eq."say \\"(\\""'), [
    ["a", false, "eq", "x,y"],
    ["b", false, "in", '{"p,q",r}'],
    ["c", false, "eq", 'say "("'],
  ]);
});

Deno.test("a quote inside a value is a character", () => {
  deepEqual(read('a=eq.5" disk,b=eq.1'), [["a", false, "eq", '5" disk'], ["b", false, "eq", "1"]]);
});

Deno.test("a malformed filter is refused with the reason", () => {
  deepEqual(["id=near.1", "undefined", "id=in.1", "a=eq.1,"].map(read), [
    'Error parsing `filter` params: ["near","1"]',
    'Error parsing `filter` params: ["undefined"]',
    "Error parsing `filter` params: `in` filter value must be wrapped by parentheses",
    "Error parsing `filter` params: filter must not contain empty segments (check for extra commas)",
  ]);
  match(String(read("=eq.1")), /^Error parsing/);
});
