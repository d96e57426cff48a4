import assert from "node:assert/strict";
import { codeBlocks } from "./code_blocks.ts";

Deno.test("codeBlocks() reads blocks in order, with indentation and directive", () => {
  const blocks = codeBlocks(
    "page.md",
    [
      "```sh",
      "one",
      "```",
      "<!-- not run: it needs a browser -->",
      "",
      "```js",
      "two",
      "```",
      "- item",
      "",
      "  <!-- save as: a/b.ts -->",
      "  ```ts",
      "  three",
      "    four",
      "  ```",
      "```",
      "output",
      "```",
    ].join("\n"),
  );

  assert.deepEqual(blocks.map(({ line, language, text }) => [line, language, text]), [
    [1, "sh", "one"],
    [6, "js", "two"],
    [12, "ts", "three\n  four"],
    [16, "", "output"],
  ]);
  assert.deepEqual(blocks.map(({ directive }) => directive.kind), [
    "run",
    "not run",
    "save",
    "run",
  ]);
});

Deno.test("codeBlocks() refuses an unreadable comment, and a reason of one word", () => {
  for (const comment of ["skip this", "not run", "not run: slow", "no rows: none"]) {
    assert.throws(
      () => codeBlocks("page.md", `<!-- ${comment} -->\n\`\`\`sh\nx\n\`\`\``),
      /^SyntaxError: page\.md:2: /,
      comment,
    );
  }
});

Deno.test("codeBlocks() applies the page's reason to all its blocks", () => {
  const text =
    "# Page\n<!-- blocks not run: another test runs them -->\n```sh\nx\n```\n```sql\ny\n```";

  assert.deepEqual(codeBlocks("page.md", text).map(({ directive }) => directive), [
    { kind: "not run", why: "another test runs them" },
    { kind: "not run", why: "another test runs them" },
  ]);
});
