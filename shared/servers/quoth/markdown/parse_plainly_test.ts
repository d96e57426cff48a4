import assert from "node:assert/strict";
import { splitMarkdown } from "./split_markdown.ts";

const OPTIONS = { filePath: "docs/long.md", maxTokens: 200 };

/** More lines than the full grammar parses. */
function longDocument(): string {
  const sections = Array.from({ length: 1_400 }, (_, number) =>
    [
      `## Part ${number} ##`,
      "",
      `Words of part ${number}. `.repeat(25),
      "",
      "```sh",
      `# not a heading ${number}`,
      "",
      "```",
      "- an item",
      "",
      "",
    ].join("\n"));
  return `# The whole\n\n${sections.join("\n")}`;
}

Deno.test("a very long document is split by its headings and fences", async () => {
  const source = longDocument();
  const { title, chunks } = await splitMarkdown(source, OPTIONS);

  assert.equal(title, "The whole");
  const lines = source.split("\n");
  const part = chunks.find(({ headingPath }) => headingPath.at(-1) === "Part 700");
  assert.deepEqual([part?.headingPath, part?.anchor], [["The whole", "Part 700"], "part-700"]);
  assert.match(part?.content ?? "", /^## Part 700 ##\n\nWords of part 700[^]*not a heading 700/);
  assert.equal(lines[(part?.startLine ?? 0) - 1], "## Part 700 ##");
  assert.ok(!chunks.some(({ headingPath }) => headingPath.join().includes("not a heading")));
});

Deno.test("no text of a very long document is lost", async () => {
  const source = longDocument();
  const { chunks } = await splitMarkdown(source, OPTIONS);

  const kept = new Set(
    chunks.flatMap(({ content }) => content.split("\n").map((line) => line.trim())),
  );
  const lost = source.split("\n").map((line) => line.trim()).filter((line) => !kept.has(line));
  assert.deepEqual(lost.filter((line) => line !== ""), []);
});
