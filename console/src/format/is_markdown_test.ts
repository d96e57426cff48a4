import { expect, test } from "vitest";
import { isMarkdown } from "./is_markdown.ts";

test.each([
  ["a heading", "# Quarterly review"],
  ["a list", "Steps:\n\n- audit\n- publish"],
  ["a list with text in its items", "1. Renew\n   the contract\n2. Hire"],
  ["a table", "| country | orders |\n|---|---:|\n| DE | 12 |"],
  ["a table without outer lines", "a | b\n--- | ---\n1 | 2"],
  ["a quote", "> He said so"],
  ["code", "Run `deno task test` first"],
  ["a fence", "```ts\nlet a = 1;\n```"],
  ["bold text", "Revenue grew **14 %**, mostly in EMEA"],
  ["a link", "See [the handbook](https://example.com/handbook)."],
])("%s is Markdown", (_what, text) => {
  expect(isMarkdown(text)).toBe(true);
});

test.each([
  ["a sentence", "Grant the exception for Zoë (enterprise, 1,240.50 €/month)?"],
  ["lines", "First line\nSecond line"],
  ["a date at the start of a line", "12. Mai 2026"],
  ["one dash", "- 3 % against last year"],
  ["a formula", "2 * 3 * 4 = 24, 2**3**4"],
  ["a name with underscores", "__init__ and my_long_name"],
  ["a ticket", "#4711 is open"],
  ["SQL", "select * from a where b > 1 -- all\nand c = '**'"],
  ["an address", "https://example.com/a_b_c"],
  ["a rule", "-----"],
])("%s is not", (_what, text) => {
  expect(isMarkdown(text)).toBe(false);
});
