import assert from "node:assert/strict";
import { splitMarkdown } from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import { loadFastCheck } from "../../deps.ts";
import { assertCoversOnce, assertPaths, assertWholeAndSmall } from "./chunk_claims.ts";

const { default: fc } = await loadFastCheck();

const word = fc.string({
  minLength: 1,
  maxLength: 12,
  unit: fc.constantFrom(..."abcdefgijklmnoprstuvwzäéß漢字カナ😀"),
});
const sentence = fc.array(word, { minLength: 1, maxLength: 14 }).map((words) =>
  `${words.join(" ")}.`
);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 30, size: "max" }).chain((
  sentences,
) => fc.constantFrom(" ", "\n").map((between) => sentences.join(between)));
const codeLine = fc.oneof(
  fc.constantFrom("", "", "# not a heading", "## nor this", "| not | a table |", "- x", "> y"),
  sentence,
);
const fence = fc.record({
  marker: fc.constantFrom("```", "~~~", "`````"),
  info: fc.constantFrom("", "js", 'ts title="a b"'),
  lines: fc.array(codeLine, { maxLength: 120, size: "max" }),
}).map(({ marker, info, lines }) => [`${marker}${info}`, ...lines, marker].join("\n"));
const table = fc.array(fc.tuple(word, sentence), { minLength: 1, maxLength: 60, size: "max" }).map((
  rows,
) => ["| a | b |", "|---|---|", ...rows.map(([a, b]) => `| ${a} | ${b} |`)].join("\n"));
const html = fc.constantFrom(
  "<!-- a comment\n\n## hidden\n-->",
  "<Tabs>\n<Tab name={`a`}>\n\nInside.\n\n</Tab>\n</Tabs>",
  "<div>\nx\n</div>",
  "***",
);
const flat = fc.oneof(
  { weight: 4, arbitrary: paragraph },
  { weight: 2, arbitrary: fence },
  { weight: 1, arbitrary: table },
);
const list = fc.tuple(
  fc.constantFrom("- ", "1. ", "* "),
  fc.array(fc.array(flat, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 8,
    size: "max",
  }),
).map(([marker, items]) =>
  items.map((blocks) => indent(blocks.join("\n\n"), marker, " ".repeat(marker.length))).join("\n")
);
const quote = fc.array(fc.oneof(flat, list), { minLength: 1, maxLength: 3 })
  .map((blocks) => indent(blocks.join("\n\n"), "> ", "> "));
const heading = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.array(word, { minLength: 1 }))
  .map(([level, words]) => `${"#".repeat(level)} ${words.slice(0, 4).join(" ")}`);
const headingsAndText = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: heading },
    { weight: 4, arbitrary: flat },
    { weight: 2, arbitrary: list },
    { weight: 1, arbitrary: quote },
  ),
  { maxLength: 25, size: "max" },
).map((blocks) => blocks.join("\n\n"));
const withHtml = fc.array(fc.oneof(heading, html, flat, list, quote), {
  maxLength: 15,
  size: "max",
})
  .map((blocks) => blocks.join("\n\n"));
const noise = fc.array(
  fc.oneof(
    fc.constantFrom("\n", "\n\n", "```", "~~~", "> ", "- ", "1. ", "# ", "|", "|-|", "<!--", "-->"),
    fc.constantFrom("    ", "\t", "===", "---", "{#x}", "[a]: b", "\\", "<a", "\0", "\uD800", "\r"),
    word,
  ),
  { maxLength: 400, size: "max" },
  // Front matter at the start is data and no text.
).map((parts) => `a ${parts.join("")}`);
const size = fc.constantFrom(64, 220, 480);

Deno.test("complete Markdown is split into complete chunks that know their place", async () => {
  await fc.assert(
    fc.asyncProperty(headingsAndText, size, async (source, maxTokens) => {
      const document = await splitMarkdown(source, { filePath: "a/b.md", maxTokens });

      assertCoversOnce(source, document);
      assertWholeAndSmall(document, maxTokens);
      assertPaths(source, document);
    }),
    { numRuns: 60 },
  );
});

Deno.test("HTML, comments and components between blocks lose no line", async () => {
  await fc.assert(
    fc.asyncProperty(withHtml, size, async (source, maxTokens) => {
      const document = await splitMarkdown(source, { filePath: "a/b.md", maxTokens });

      assertCoversOnce(source, document);
      assertWholeAndSmall(document, maxTokens);
    }),
    { numRuns: 40 },
  );
});

Deno.test("line ends and repetition change no chunk", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(withHtml, headingsAndText), size, async (source, maxTokens) => {
      const options = { filePath: "a/b.md", maxTokens };
      const document = await splitMarkdown(source, options);

      assert.deepEqual(await splitMarkdown(source, options), document);
      assert.deepEqual(await splitMarkdown(source.replaceAll("\n", "\r\n"), options), document);
      assert.deepEqual(await splitMarkdown(`\uFEFF${source}`, options), document);
    }),
    { numRuns: 25 },
  );
});

Deno.test("no text is refused, and none makes a chunk too long or is lost", async () => {
  await fc.assert(
    fc.asyncProperty(noise, size, async (source, maxTokens) => {
      const { chunks } = await splitMarkdown(source, { filePath: "a/b.md", maxTokens });

      for (const { content, tokenCount } of chunks) {
        assert.ok(tokenCount <= maxTokens * 1.1, `${tokenCount} tokens: ${content.slice(0, 80)}`);
      }
      assert.ok(
        holdsInOrder(
          chunks.map(({ content }) => content).join(""),
          source.replace(/[^\p{L}]/gu, ""),
        ),
      );
    }),
    { numRuns: 100 },
  );
});

/** Whether all characters occur in the text, in this order. */
function holdsInOrder(text: string, characters: string): boolean {
  let at = 0;
  for (const character of characters) {
    at = text.indexOf(character, at) + character.length;
    if (at < character.length) return false;
  }
  return true;
}

function indent(text: string, first: string, others: string): string {
  return text.split("\n").map((line, index) =>
    `${index === 0 ? first : others}${line}`.replace(/^ +$/, "")
  ).join("\n");
}
