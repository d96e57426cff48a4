import assert from "node:assert/strict";
import { fitOutput } from "../../shared/engine/agent/fit_output.ts";
import { messageOf } from "../../shared/gateway/mcp/call_result.ts";
import { resourceUrl } from "../../shared/gateway/mcp/public_url.ts";
import { isSameIssuer } from "../../shared/gateway/tools/credentials/oauth/issuer.ts";
import { answerOfFailure } from "../../shared/gateway/tools/kinds/mcp/mcp_failure.ts";
import { emptyTrace } from "../../shared/gateway/tools/kinds/mcp/mcp_fetch.ts";
import { readBlock } from "../../shared/gateway/tools/kinds/mcp/reading/read_block.ts";
import {
  propertyNamesIn,
  renameProperties,
} from "../../shared/models/tool_schemas/property_names.ts";
import { ANSWER_LIMITS, MESSAGE_LIMITS } from "../../shared/platform/json/json_limits.ts";
import { parseJson } from "../../shared/platform/json/parse_json.ts";
import { SseMeter } from "../../shared/platform/json/sse_meter.ts";
import { NameHints } from "../../shared/platform/values/nearest_names.ts";
import { parseVariants } from "../../shared/servers/catalog/draft_variations.ts";
import { readFrontMatter } from "../../shared/servers/quoth/markdown/front_matter.ts";
import { splitMarkdown } from "../../shared/servers/quoth/markdown/split_markdown.ts";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { stripConstants } from "../../shared/servers/sql/context/strip_constants.ts";
import type { LinkableTable } from "../../shared/servers/sql/linking/linkable_table.ts";
import { indexTables, rankTables } from "../../shared/servers/sql/linking/rank_tables.ts";
import { describeResults } from "../../shared/servers/sql/results/describe_results.ts";
import { parseCsv } from "../../shared/servers/sql/results/read_results.ts";
import { readResults } from "../../shared/servers/sql/results/read_results.ts";
import { distinctNames, numberOf } from "../../shared/servers/sql/results/result_table.ts";
import { resultsChart } from "../../shared/servers/sql/results/results_chart.ts";
import {
  resultsCsv,
  resultsJson,
  resultsTable,
} from "../../shared/servers/sql/results/results_text.ts";
import { DEFAULT_SQL_POLICY } from "../../shared/servers/sql/sql_policy.ts";
import { longestStepMs, MAX_STEP_MS } from "./blocked_loop.ts";
import { WORST_TEXTS } from "./worst_values.ts";

interface Parser {
  /** The longest text that reaches it. */
  readonly characters: number;
  parse(text: string): unknown;
}

const encoder = new TextEncoder();

/** Every parser of untrusted text, with its limit. */
const PARSERS: Readonly<Record<string, Parser>> = {
  "CSV": { characters: 1_200_000, parse: (text) => parseCsv(text, 50_000) },
  "rows of a result": { characters: 1_200_000, parse: readResults },
  "SQL": { characters: 20_000, parse: (text) => classifySql(text, DEFAULT_SQL_POLICY) },
  "JSON": { characters: 5_000_000, parse: (text) => parseJson(text, ANSWER_LIMITS) },
  "a stream of events": {
    characters: 4_000_000,
    parse: (text) => new SseMeter(MESSAGE_LIMITS).feed(encoder.encode(`data: ${text}\n\n`)),
  },
  "Markdown": {
    characters: 1_000_000,
    parse: (text) => splitMarkdown(text, { filePath: "a.md", maxTokens: 480 }),
  },
  "front matter": {
    characters: 1_000_000,
    parse: (text) => readFrontMatter(`---\n${text}\n---\n`),
  },
};

Deno.test("no text causes a long step of work in a parser", async (t) => {
  for (const [name, { characters, parse }] of Object.entries(PARSERS)) {
    await t.step(name, async () => {
      const run = async (text: string) => {
        try {
          await parse(text);
        } catch {
          // A refusal is as good as a result.
        }
      };
      // Modules that are imported on first use are imported now.
      await run("a");
      const slow: Record<string, number> = {};
      for (const [shape, textOf] of Object.entries(WORST_TEXTS)) {
        const text = textOf(characters);
        const stepMs = await longestStepMs(() => run(text));
        if (stepMs > MAX_STEP_MS) slow[shape] = Math.round(stepMs);
      }
      assert.deepEqual(slow, {}, "milliseconds of CPU time by shape");
    });
  }
});

const RUN_CHARACTERS = 40_000;
const runOf = (part: string) => part.repeat(RUN_CHARACTERS / part.length);

/** Readers that look for characters at the end of a text, with a long run of them elsewhere. */
const RUNS: Readonly<Record<string, () => unknown>> = {
  "base64": () => readBlock({ type: "image", data: `${runOf("=")}a` }, "", []),
  "an issuer": () => isSameIssuer(`https://a.example/${runOf("/")}a`, "https://a.example"),
  "a resource": () => resourceUrl(new Request(`https://a.example/${runOf("/")}a`)),
  "a property's name": () =>
    renameProperties(propertyNamesIn({ properties: { [`${runOf("_")}a`]: {} } }), /^a$/),
  "a fence": () => fitOutput(`\`\`\`${runOf("\n")}`, { type: "object" }),
  "variants": () => parseVariants(`${runOf("\n")}a`),
  "a cell": () => numberOf(`${runOf("1")}a`),
  "a message with a hint": () => messageOf({ text: `${runOf(".")}a hint`, hint: "hint" }),
  "a learned statement": () => stripConstants(`select 1${runOf(" ")}, 2`),
  "a refusal": () =>
    answerOfFailure({
      server: "tool",
      credential: null,
      error: Object.assign(new Error(runOf("tool ")), { code: -32602 }),
      trace: emptyTrace(),
    }),
};

Deno.test("no long run of a character causes a long step of work", async () => {
  const slow: Record<string, number> = {};
  for (const [name, read] of Object.entries(RUNS)) {
    const stepMs = await longestStepMs(read);
    if (stepMs > MAX_STEP_MS) slow[name] = Math.round(stepMs);
  }
  assert.deepEqual(slow, {}, "milliseconds of CPU time by reader");
});

Deno.test("no format of a result takes long", async () => {
  const formats = { resultsTable, resultsCsv, resultsJson, resultsChart, describeResults };
  const header = (count: number) => Array.from({ length: count }, () => "a").join();
  const lines = (count: number, line: string) =>
    Array.from({ length: count }, () => line).join("\n");
  const texts = {
    "one wide row": `${header(24_000)}\n${header(24_000)}`,
    "one long column of times": `a\n${lines(49_000, "2026-01-01 00:00:00+00")}`,
    "one long column of numbers": `a\n${lines(49_000, "1")}`,
    "as many rows as columns": `${header(220)}\n${lines(220, header(220))}`,
  };
  for (const [shape, text] of Object.entries(texts)) {
    const table = readResults(text);
    for (const [name, format] of Object.entries(formats)) {
      const stepMs = await longestStepMs(() => format(table));
      assert.ok(stepMs <= MAX_STEP_MS, `${name} of ${shape}: ${stepMs} ms`);
    }
  }
});

Deno.test("a table has as many cells as an answer of execute_sql at most", () => {
  const csv = `${Array.from({ length: 50 }, (_, column) => `c${column}`).join()}\n${
    "1,2,3\n".repeat(999)
  }`;

  assert.equal(readResults(csv).rows.length, 999);
  assert.throws(() => readResults(csv + "1\n".repeat(9)), /more than 50000 cells/);
  const objects = Array.from({ length: 300 }, (_, number) => ({ [`k${number}`]: 1 }));
  assert.throws(() => readResults(JSON.stringify(objects)), /more than 50000 cells/);
});

Deno.test("resultsJson() refuses rows that would each repeat long names", () => {
  const table = readResults(`${"n".repeat(10_000)}\n${"1\n".repeat(1_000)}`);

  assert.throws(() => resultsJson(table), /each row would repeat the long names/);
  assert.equal(resultsCsv(table).split("\n").length, 1_002);
});

Deno.test("distinctNames() numbers equal names, also beside names with numbers", () => {
  assert.deepEqual(distinctNames(["a", "a", "a_2", "a", "a_2", "b"]), [
    ...["a", "a_2", "a_2_2", "a_3", "a_2_3", "b"],
  ]);
});

Deno.test("hints for thousands of wrong names take as long as those for a few", async () => {
  const known = Array.from({ length: 5_000 }, (_, number) => `agent_identifier_${number}`);
  const wrong = Array.from({ length: 20_000 }, (_, number) => `agent_identifer_${number}`);

  const stepMs = await longestStepMs(() => {
    const hints = new NameHints();
    for (const name of wrong) hints.nearest(name, known);
  });

  assert.ok(stepMs <= MAX_STEP_MS, `${stepMs} ms`);
  assert.deepEqual(new NameHints().nearest("agent_identifer_7", known, 1), ["agent_identifier_7"]);
});

Deno.test("a statement with more than a thousand problems is answered with the first ones", async () => {
  const calls = Array.from({ length: 1_500 }, (_, number) => `f${number}()`).join();
  const { statementClass, findings } = await classifySql(
    `select lenght('a'), ${calls}`,
    DEFAULT_SQL_POLICY,
  );

  assert.equal(statementClass, "forbidden");
  assert.equal(findings.length, 20);
  assert.match(findings[0]?.reason ?? "", /lenght\(\) is not on .*Similar functions: .*length/);
});

Deno.test("a long question is compared with a large schema in a short step", async () => {
  const columns = Array.from({ length: 100 }, (_, number) => number);
  const tables: LinkableTable[] = columns.map((table) => ({
    schema: "public",
    name: `table${table}`,
    comment: null,
    primaryKey: [],
    foreignKeys: [],
    columns: columns.map((column) => ({
      name: `word${table * 100 + column}`,
      type: "text",
      comment: null,
    })),
  }));
  const index = indexTables(tables);
  const question = Array.from({ length: 3_000 }, (_, number) => `word${number}`).join(" ");

  const stepMs = await longestStepMs(() => rankTables(question, index));

  assert.ok(stepMs <= MAX_STEP_MS, `${stepMs} ms`);
});
