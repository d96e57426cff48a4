import assert from "node:assert/strict";
import { digestMarkdown } from "./markdown_digest.ts";

Deno.test("digestMarkdown() finds title, headings, words and the first sentence", () => {
  const text = [
    "---",
    "layout: page",
    "---",
    "# The *queue* ##",
    "",
    "![badge](x.png)",
    "",
    "> It never loses a [task](tasks.md). Not one.",
    "",
    "```sh",
    "# not a heading",
    "```",
    "",
    "## Leases",
    "### `claim`",
  ].join("\r\n");

  const digest = digestMarkdown("/docs/queue.md", text);

  assert.equal(digest.title, "The queue");
  assert.deepEqual(digest.headings, ["Leases", "claim"]);
  assert.equal(digest.first_sentence, "It never loses a task.");
  assert.ok(digest.words > 15);
});

Deno.test("digestMarkdown() accepts a text without a heading or a sentence end", () => {
  assert.deepEqual(digestMarkdown("/docs/note.md", "just words"), {
    title: "note.md",
    headings: [],
    words: 2,
    first_sentence: "just words",
  });
  assert.equal(digestMarkdown("/docs/empty.md", "").first_sentence, "");
});
