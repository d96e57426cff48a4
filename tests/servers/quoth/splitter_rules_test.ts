import assert from "node:assert/strict";
import { cpuUsage } from "node:process";
import {
  type Chunk,
  splitMarkdown,
} from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import { assertCoversOnce, assertWholeAndSmall } from "./chunk_claims.ts";

const split = (source: string, maxTokens = 100, filePath = "guides/install.md") =>
  splitMarkdown(source, { filePath, maxTokens });
const sentences = (count: number, word = "Water") =>
  Array.from({ length: count }, (_, index) => `${word} rises in the harbour ${index}.`).join(" ");
const outline = (chunks: readonly Chunk[]) =>
  chunks.map((chunk) => [chunk.headingPath.join(" > "), chunk.startLine, chunk.endLine]);

Deno.test("the title comes from the front matter, the first heading, or the file's name", async () => {
  const titleOf = async (source: string, path?: string) => (await split(source, 100, path)).title;

  assert.equal(await titleOf("---\ntitle: Tides\n---\n# Other\n"), "Tides");
  assert.equal(await titleOf("---\ntitle: Tides: a guide\n---\n# Other\n"), "Tides: a guide");
  assert.equal(await titleOf("---\ntitle: 2026\n---\n"), "2026");
  assert.equal(await titleOf("text\n\nThe `sea` &amp; [us](x) {#id}\n===\n"), "The sea & us");
  assert.equal(await titleOf("## Only a section"), "install");
  assert.equal(await titleOf("", "runtime/index.mdx"), "runtime");
  assert.equal(await titleOf("", "README.md"), "README");
});

Deno.test("front matter is read only at the first byte, and is in no chunk", async () => {
  const { frontMatter, chunks } = await split(
    "\uFEFF---\r\ntitle: Tides\r\ntags: [a, b]\r\nat: 2026-01-01\r\n...\r\n\r\nText.\r\n",
  );

  assert.deepEqual(frontMatter, { title: "Tides", tags: ["a", "b"], at: "2026-01-01" });
  assert.deepEqual(outline(chunks), [["Tides", 7, 7]]);
  for (const body of ["\n---\ntitle: x\n---\n", "---\nno mapping\n---\n", "---\n- a\n---\n"]) {
    const document = await split(body);
    assert.deepEqual(document.frontMatter, {});
    assertCoversOnce(body, document);
  }
});

Deno.test("front matter that YAML refuses or that expands without limit causes no error", async () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefgh"].map((name, index, all) =>
    index === 0 ? name : `${name}: &${name} [${`*${(all[index - 1] ?? "").charAt(0)},`.repeat(9)}]`
  ).join("\n");
  for (
    const yaml of [bomb, "a: &a [*a]", "a: [1", `${"[".repeat(30_000)}`, "a: .inf", 'a: "\\0"']
  ) {
    const { chunks } = await split(`---\n${yaml}\n---\n# A\n\nThe text.\n`);
    assert.ok(chunks.some(({ content }) => content.includes("The text.")), yaml.slice(0, 20));
  }
});

Deno.test("the checksum of the body changes only with the content of chunks", async () => {
  const checksum = async (source: string, maxTokens?: number) =>
    (await split(source, maxTokens)).bodyChecksum;
  const original = await checksum("---\ntitle: A\nat: 1\n---\nText.\n");

  assert.equal(await checksum("---\ntitle: A\nat: 2\n---\nText.\n"), original);
  assert.notEqual(await checksum("---\ntitle: B\nat: 1\n---\nText.\n"), original);
  assert.notEqual(await checksum("---\ntitle: A\nat: 1\nx: 1\n---\nText.\n"), original);
  assert.notEqual(await checksum("---\ntitle: A\nat: 1\n---\nText!\n"), original);
  assert.notEqual(await checksum("---\ntitle: A\nat: 1\n---\nText.\n", 200), original);
});

Deno.test("chapters are split at headings of the second level, long ones at lower levels", async () => {
  const { chunks } = await split([
    "# Guide",
    sentences(6),
    "## Short",
    sentences(6),
    "### Part of it",
    sentences(4),
    "## Long",
    "### One",
    sentences(10),
    "### Two",
    sentences(10),
  ].join("\n\n"));

  assert.deepEqual(outline(chunks), [
    ["Guide", 1, 3],
    ["Guide > Short", 5, 11],
    ["Guide > Long > One", 13, 17],
    ["Guide > Long > Two", 19, 21],
  ]);
  assert.equal(chunks[2]?.embeddedText.split("\n")[0], "Guide > Long > One");
  assert.equal(chunks[2]?.anchor, "one");
});

Deno.test("small sections join their neighbors in the chapter, tiny chapters join each other", async () => {
  const inChapter = await split(
    ["## A", "### a", "One.", "### b", "Two.", "### c", sentences(13)].join("\n\n"),
  );
  const chapters = await split(["## A", "One.", "## B", "Two.", "## C", sentences(9)].join("\n\n"));

  assert.deepEqual(outline(inChapter.chunks), [
    ["install > A", 1, 9],
    ["install > A > c", 11, 13],
  ]);
  assert.deepEqual(outline(chapters.chunks), [["install", 1, 7], ["install > C", 9, 11]]);
});

Deno.test("anchors are GitHub's, or the author's", async () => {
  const { chunks } = await split(
    [
      "## Réglages: `a.b` & more!",
      "## Setup",
      "## Setup",
      "## Setup {#again}",
      "> ## Setup",
      "## Setup",
    ]
      .map((heading) => `${heading}\n\n${sentences(9)}`).join("\n\n"),
    200,
  );

  assert.deepEqual(
    chunks.map(({ anchor }) => anchor),
    [
      "réglages-ab--more",
      "setup",
      "setup-1",
      "again",
      "setup-3",
    ],
  );
});

Deno.test("text that looks like a heading in code, comments and quotes is not a heading", async () => {
  const source = [
    "## Real",
    "```md\n## in a fence\n```",
    "<!--\n## in a comment\n-->",
    "> ## in a quote",
    "- ## in a list",
    "    ## in an indented block",
    "Setext heading\n---",
    sentences(9),
  ].join("\n\n");

  const { chunks } = await split(source, 480);

  assert.deepEqual(chunks.map(({ headingPath }) => headingPath.slice(1)), [
    ["Real"],
    ["Setext heading"],
  ]);
});

Deno.test("a long fence is cut at blank lines and reopened with its info string", async () => {
  const code = Array.from({ length: 60 }, (_, index) => `const tide${index} = ${index};\n`).join(
    "\n",
  );
  const source = `## Code\n\nThis is the code:\n\n\`\`\`ts title="a.ts"\n${code}\`\`\`\n\nAfter.\n`;

  const document = await split(source);

  assertCoversOnce(source, document);
  assertWholeAndSmall(document, 100);
  assert.ok(document.chunks.length > 2);
  assert.match(document.chunks[0]?.content ?? "", /^## Code\n\nThis is the code:\n\n```ts title/);
  for (const { content } of document.chunks.slice(1)) {
    assert.match(content, /^```ts title="a\.ts"\nconst tide/);
    assert.match(content, /;\n+```(\n\nAfter\.)?$/);
  }
});

Deno.test("fences in lists and quotes are reopened at their indent", async () => {
  const code = Array.from({ length: 40 }, (_, index) => `const tide${index} = ${index};`);
  for (const [first, indent] of [["1. ", "   "], ["> - ", ">   "], ["- > ", "  > "]]) {
    const source = [`${first}\`\`\`js`, ...code.map((line) => indent + line), `${indent}\`\`\``]
      .join("\n");

    const document = await split(source);

    assertCoversOnce(source, document);
    assertWholeAndSmall(document, 100);
    assert.equal(document.chunks[1]?.content.split("\n")[0], `${indent}\`\`\`js`);
    assert.equal(document.chunks[0]?.content.split("\n").at(-1), `${indent}\`\`\``);
  }
});

Deno.test("a long table is cut between rows, and each part has the head", async () => {
  const head = "| name | height |\n|:-----|-------:|";
  const rows = Array.from({ length: 60 }, (_, index) => `| harbour ${index} | ${index} m |`);
  const source = `Before.\n\n${head}\n${rows.join("\n")}\n\nAfter.\n`;

  const document = await split(source);

  assertCoversOnce(source, document);
  assert.ok(document.chunks.length > 3);
  for (const { content } of document.chunks) assert.ok(content.includes(head), content);
});

Deno.test("a long list is cut between items, a long paragraph after sentences", async () => {
  const items = Array.from({ length: 20 }, (_, index) => `- ${sentences(2)}\n  More of ${index}.`);
  const list = await split(items.join("\n"));
  const paragraph = await split(sentences(60));

  assert.ok(list.chunks.length > 3 && paragraph.chunks.length > 3);
  for (const { content } of list.chunks) assert.match(content, /^- [^]*More of \d+\.$/);
  for (const { content } of paragraph.chunks) assert.match(content, /^Water [^]*\d\.$/);
});

Deno.test("a paragraph that introduces code stays with it", async () => {
  const code = "```js\n" + "run();\n".repeat(30) + "```";
  const { chunks } = await split(`## A\n\n${sentences(8)}\n\nRun this:\n\n${code}\n`);

  assert.match(chunks.at(-1)?.content ?? "", /^Run this:\n\n```js/);
});

Deno.test("an unclosed fence is closed only in its last chunk", async () => {
  const source = "## A\n\n```js\n" + "run();\n".repeat(80);

  const document = await split(source);

  assertCoversOnce(source, document);
  assertWholeAndSmall(document, 100);
  assert.equal(document.chunks.at(-1)?.endLine, 83);
});

Deno.test("a very long line is cut, with all parts on that line", async () => {
  for (
    const line of ["word ".repeat(1000), "x".repeat(5000), "漢字".repeat(500), "😀".repeat(500)]
  ) {
    const document = await split(line);

    assertCoversOnce(line, document);
    assertWholeAndSmall(document, 100);
    for (const { content, endLine } of document.chunks) {
      assert.ok(content.isWellFormed());
      assert.equal(endLine, 1);
    }
  }
});

Deno.test("a breadcrumb leaves room for the text", async () => {
  const long = "A heading that says far more than a heading should say ".repeat(5).trim();
  const { chunks } = await split(`# ${long}\n\n## ${long} b\n\n### ${long} c\n\n${sentences(20)}`);

  for (const { embeddedText, content } of chunks) {
    const breadcrumb = embeddedText.slice(0, -content.length - 2);
    assert.ok(breadcrumb.length <= 70 && breadcrumb.endsWith("…"), breadcrumb);
  }
});

Deno.test("a document without text has no chunks", async () => {
  for (const source of ["", "\n \n\t\n", "\uFEFF", "---\ntitle: A\n---\n", "---\n---"]) {
    assert.deepEqual((await split(source)).chunks, [], JSON.stringify(source));
  }
});

Deno.test("a chunk's hash depends on breadcrumb and content only", async () => {
  const one = await split(`## A\n\n${sentences(9)}\n\n## B\n\n${sentences(9)}\n`);
  const moved = await split(
    `## B\n\n${sentences(9)}\n\n## A\n\n${sentences(9)}\n`,
    100,
    "x/install.md",
  );
  const renamed = await split(`## A\n\n${sentences(9)}\n`, 100, "x/other.md");

  assert.deepEqual(
    one.chunks.map(({ hash }) => hash),
    moved.chunks.map(({ hash }) => hash).reverse(),
  );
  assert.notEqual(renamed.chunks[0]?.hash, one.chunks[0]?.hash);
  assert.match(one.chunks[0]?.hash ?? "", /^[0-9a-f]{64}$/);
});

Deno.test("binary data, deep nesting and a large file are split in time", async () => {
  const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 2654435761) >>> 13);
  const nested = Array.from({ length: 300 }, (_, index) => `${"  ".repeat(index)}- x`).join("\n");
  const sources = [
    new TextDecoder().decode(bytes),
    ">".repeat(100_000),
    "- ".repeat(100_000),
    "[".repeat(100_000),
    nested.repeat(5),
    `## A\n\n${sentences(20)}\n\n- x\n\n\`\`\`js\nrun();\n\`\`\`\n\n`.repeat(1600),
  ];

  for (const source of sources) {
    const before = cpuUsage();
    const document = await split(source, 220);
    const cpuMs = cpuUsage(before).user / 1_000;

    assertWholeAndSmall(document, 220);
    assert.ok(!document.chunks.some(({ content }) => content.includes("\0")));
    assert.ok(cpuMs < 5_000, `${source.slice(0, 20)}: ${Math.round(cpuMs)} ms`);
  }
});

Deno.test("a window that cannot contain a table row is refused", async () => {
  await assert.rejects(split("x", 63), RangeError);
});
