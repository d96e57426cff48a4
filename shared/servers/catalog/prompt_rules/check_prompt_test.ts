import assert from "node:assert/strict";
import { checkPrompt } from "./check_prompt.ts";

/** The codes that a prompt gets, each with the text that it is about. */
function found(text: string): string[] {
  return checkPrompt(text).issues.map(({ code, start, end }) =>
    start === undefined ? code : `${code}: ${text.slice(start, end)}`
  );
}

const CLEAR = "Summarize the text between the tags in three bullet points.";

Deno.test("a clear prompt has no issue", () => {
  for (
    const text of [
      CLEAR,
      "Write a haiku about rain.",
      "List five European capitals as JSON: an array of strings.",
      "Translate the sentence into French. Answer with the translation alone, in one sentence.",
      "What is the capital of France?",
    ]
  ) assert.deepEqual(checkPrompt(text), { issues: [], suggestions: [] }, text);
});

Deno.test("vague words, biased terms and empty phrases are found where they stand", () => {
  assert.deepEqual(found(`${CLEAR} Add something nice, etc.`), [
    "VAGUE_WORD: something",
    "VAGUE_WORD: nice",
    "VAGUE_WORD: etc",
  ]);
  assert.deepEqual(found(`${CLEAR} Name the chairman and the Blacklist.`), [
    "BIASED_TERM: chairman",
    "BIASED_TERM: Blacklist",
  ]);
  assert.deepEqual(found(`${CLEAR} Do it in order\nto help.`), ["VERBOSE_PHRASE: in order\nto"]);
});

Deno.test("words inside other words and inside code are none of them", () => {
  assert.deepEqual(found(`${CLEAR} Nicely done, Etcetera, every, very-fast, overthings.`), []);
  assert.deepEqual(found(`${CLEAR} Keep \`blacklist\`.\n\`\`\`\nstuff = something\n\`\`\``), []);
});

Deno.test("a place counts UTF-16 code units", () => {
  const text = `🙂 ${CLEAR} Avoid stuff.`;
  const [issue] = checkPrompt(text).issues;
  assert.deepEqual([issue?.start, issue?.end], [text.indexOf("stuff"), text.indexOf("stuff") + 5]);
});

Deno.test("instructions that exclude each other are found at the later one", () => {
  assert.deepEqual(found("Write a brief report. Make it comprehensive."), [
    "CONTRADICTION: comprehensive",
  ]);
  assert.deepEqual(found(`${CLEAR} Always use headings. Never use headings.`), [
    "CONTRADICTION: Never use headings",
  ]);
  assert.deepEqual(found("Write a formal letter of 100 words in a casual voice."), [
    "CONTRADICTION: casual",
  ]);
});

Deno.test("what is negated contradicts nothing", () => {
  for (
    const text of [
      "Write a brief report, not a comprehensive one.",
      "Write a formal letter of 100 words. It must not be casual.",
      "Write a short note. Avoid a long introduction.",
      `${CLEAR} Always use headings. Never use tables.`,
    ]
  ) assert.deepEqual(found(text), [], text);
});

Deno.test("a request without a format or a length lacks it, a question does not", () => {
  assert.deepEqual(found("Explain photosynthesis."), [
    "MISSING_OUTPUT_FORMAT",
    "UNBOUNDED_LENGTH",
  ]);
  assert.deepEqual(found("Explain photosynthesis in one paragraph."), []);
  assert.deepEqual(found("Explain photosynthesis as a table."), ["UNBOUNDED_LENGTH"]);
  assert.deepEqual(found("Write a report with as much detail as possible."), [
    "UNBOUNDED_LENGTH: as much detail as possible",
  ]);
  assert.deepEqual(found("Why is the sky blue?"), []);
});

Deno.test("placeholders need delimiters", () => {
  for (const name of ["{{ text }}", "{text}", "${text}", "%(text)s", "[USER INPUT]", "<TEXT>"]) {
    assert.deepEqual(found(`Summarize in one sentence: ${name}`), [
      `INJECTION_PRONE_PLACEHOLDER: ${name}`,
    ]);
  }
  for (
    const text of [
      'Summarize "{{text}}" in one sentence.',
      "Summarize in one sentence: <input>{{text}}</input>",
      "Summarize in one sentence:\n```\n{{text}}\n```",
      'Summarize in one sentence: """\n{text}\n"""',
    ]
  ) assert.deepEqual(found(text), [], text);
});

Deno.test("sentences are said once and not at length", () => {
  const said = "Keep to the facts of the text.";
  assert.deepEqual(found(`${CLEAR} ${said} ${said}`), [
    "REPEATED_SENTENCE: Keep to the facts of the text",
  ]);
  const long = `Mention ${Array.from({ length: 41 }, (_, at) => `fact${at}`).join(" ")}`;
  assert.deepEqual(found(`${CLEAR} ${long}.`), [`LONG_SENTENCE: ${long}`]);
  assert.deepEqual(found(`${CLEAR} ${long.split(" ").slice(0, 40).join(" ")}.`), []);
});

Deno.test("each kind of issue has one suggestion", () => {
  const { issues, suggestions } = checkPrompt(`${CLEAR} Add stuff and things, basically.`);
  assert.equal(issues.length, 3);
  assert.equal(suggestions.length, 2);
});

Deno.test("checking takes time in proportion to the text, whatever it holds", () => {
  const pieces = ["a very nice {x} ", "never ", "{{", "`", "<a>", "not ", "\n", "in order ", '"""'];
  for (const piece of pieces) {
    const timeOf = (characters: number) => {
      const text = piece.repeat(Math.ceil(characters / piece.length)).slice(0, characters);
      checkPrompt(text);
      const times = Array.from({ length: 5 }, () => {
        const start = performance.now();
        checkPrompt(text);
        return performance.now() - start;
      });
      return Math.min(...times);
    };
    const [small, large] = [timeOf(10_000), timeOf(80_000)];
    assert.ok(small < 5, `${JSON.stringify(piece)}: 10 KB took ${small.toFixed(1)} ms`);
    assert.ok(large < 5 + small * 24, `${JSON.stringify(piece)}: ${small} ms, then ${large} ms`);
  }
});
