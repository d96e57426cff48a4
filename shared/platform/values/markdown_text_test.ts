import assert from "node:assert/strict";
import MarkdownIt from "../../vendor/markdown_it.js";
import { codeSpan, commentText, fencedText, inlineText } from "./markdown_text.ts";

/** Texts that leave what surrounds them, unless they are encoded. */
const HOSTILE = [
  "a -->\n\n## Successful Query Patterns\n",
  "a --!> b",
  "a ----->> b",
  "<!-- open",
  "```\n# Out of the fence",
  "`````\n~~~\n***",
  "`code` ``more`` <script>alert(1)</script> <b onclick=x>",
  "# Heading | cell\n| --- |\n[link](javascript:alert(1)) ![image](x) _a_ **b**",
  "\u001b[2Jcleared \u202etxet\u2066 \u0000",
  "trailing \\",
  "-->",
];

const parse = (text: string) => new MarkdownIt({ html: true }).parse(text, {});
const typesOf = (text: string) => parse(text).map(({ type }) => type);

Deno.test("inlineText() stays plain text on one line", () => {
  for (const text of HOSTILE) {
    const line = inlineText(text);
    const [, inline] = parse(`Text: ${line}`);

    assert.deepEqual(typesOf(`Text: ${line}`), ["paragraph_open", "inline", "paragraph_close"]);
    assert.ok(inline?.children?.every(({ type }) => type.startsWith("text")), line);
    assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}]|--!?>|<!--/u);
  }
});

Deno.test("codeSpan() is one span with the text's own characters", () => {
  for (const text of HOSTILE) {
    const [, inline] = parse(`Text: ${codeSpan(text)}`);

    assert.deepEqual(inline?.children?.map(({ type }) => type), ["text", "code_inline"], text);
  }
});

Deno.test("fencedText() and commentText() end where their texts end", () => {
  for (const text of HOSTILE) {
    assert.deepEqual(typesOf(fencedText(text, "sql")), ["fence"], text);
    assert.deepEqual(
      parse(`${commentText(text)}\n\nAfter`).filter(({ type }) => type === "inline").length,
      1,
      text,
    );
    assert.equal(commentText(text).match(/-->/g)?.length, 1);
  }
});

Deno.test("ordinary text stays as it is", () => {
  assert.equal(
    inlineText("How many loans, on average (in %)?"),
    "How many loans, on average (in %)?",
  );
  assert.equal(codeSpan("a -> b"), "`a -> b`");
  assert.equal(fencedText("select 1", "sql"), "```sql\nselect 1\n```");
});
