import assert from "node:assert/strict";
import { fenceData } from "../../../shared/gateway/tool_contracts/fence_data.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import type {
  ModelMessage,
  ModelTool,
  ModelToolCall,
} from "../../../shared/models/llm/model_port.ts";
import { DEMO_AGENTS } from "../../../scripts/models/demo_agents.ts";
import { type ModelServer, startModelServer } from "../../../scripts/models/model_server.ts";
import { call, request } from "./tested_model.ts";
import { WIRE_FORMATS, type WireFormat } from "./wire_format.ts";

const FILES: Readonly<Record<string, string>> = {
  "queue.md": "# The queue\n\nIt never loses a task. Not one.\n\n## Leases\n",
  "notes.md": "Some words without a heading.",
};

const PLANNER = "You write a report over a folder of Markdown documents.\n1. Load the skill";
const READER = "You read one Markdown file with the file tools. Its path is in the input.";

const TOOL_NAMES = [
  "files__list_directory",
  "files__read_text_file",
  "create_subtask",
  "request_human_review",
  "save_intermediate_data",
  "complete_task",
  "load_skill",
];

/** An agent's calls in order, and its output. */
interface Played {
  readonly calls: readonly { readonly name: string; readonly arguments: JsonValue }[];
  readonly output: JsonValue;
}

type RunTool = (toolCall: ModelToolCall) => Promise<string>;

/** A minimal agent loop, without queue or database. */
async function runAgent(
  format: WireFormat,
  server: ModelServer,
  agent: { readonly system: string; readonly input: JsonValue; readonly runTool: RunTool },
): Promise<Played> {
  const messages: ModelMessage[] = [{ role: "user", text: JSON.stringify(agent.input, null, 2) }];
  const calls: { name: string; arguments: JsonValue }[] = [];
  const tools = TOOL_NAMES.map((name): ModelTool => (
    { name, description: name, inputSchema: { type: "object", properties: {} } }
  ));
  for (let turn = 0; turn < 12; turn++) {
    const asked = request({ model: "demo", system: agent.system, messages, tools });
    const { text, tool_calls } = await call(format, server.url, asked, { onDelta: () => {} });
    messages.push({ role: "assistant", text, tool_calls });
    for (const toolCall of tool_calls) {
      calls.push({ name: toolCall.name, arguments: toolCall.arguments });
      if (toolCall.name === "complete_task") {
        return { calls, output: toolCall.arguments?.output ?? null };
      }
      const { call_id, name } = toolCall;
      messages.push({
        role: "tool",
        call_id,
        name,
        text: await agent.runTool(toolCall),
        is_error: false,
      });
    }
  }
  throw new Error("The agent does not finish");
}

/** Tools as the platform answers them: external results fenced, its own unfenced. */
function createTools(
  format: WireFormat,
  server: ModelServer,
  review: JsonValue,
): { readonly runTool: RunTool; readonly saved: Map<string, JsonValue> } {
  const saved = new Map<string, JsonValue>();
  const runTool: RunTool = async ({ name, arguments: given }) => {
    const path = String(given?.path ?? "");
    switch (name) {
      case "files__list_directory": {
        const lines = Object.keys(FILES).map((file) => `[FILE] ${file}`);
        return fenceData([...lines, "[FILE] image.png", "[DIR] old"].join("\n"), "files");
      }
      case "files__read_text_file":
        return fenceData(FILES[path.split("/").at(-1) ?? ""] ?? "", "files");
      case "create_subtask": {
        const { output } = await runAgent(format, server, {
          system: READER,
          input: given?.input ?? null,
          runTool,
        });
        return fenceData(JSON.stringify({ agent: "reader", status: "completed", output }), "sub");
      }
      case "request_human_review":
        return JSON.stringify(review);
      case "save_intermediate_data":
        saved.set(String(given?.key), given?.value ?? null);
        return '{"saved": true}';
      default:
        return "# Writing a report";
    }
  };
  return { runTool, saved };
}

async function play(format: WireFormat, review: JsonValue) {
  const server = await startModelServer({ agents: DEMO_AGENTS });
  const { runTool, saved } = createTools(format, server, review);
  try {
    const input = { folder: "/data/docs" };
    const played = await runAgent(format, server, { system: PLANNER, input, runTool });
    return { ...played, saved, journal: server.journal };
  } finally {
    await server.stop();
  }
}

for (const format of WIRE_FORMATS) {
  Deno.test(`${format.api}: the demo's agents report the actual contents of the files`, async () => {
    const review = { approved: true, response: {}, comments: "Mind the leases" };

    const { calls, output, saved, journal } = await play(format, review);

    assert.deepEqual(calls.map(({ name }) => name), [
      "load_skill",
      "files__list_directory",
      "create_subtask",
      "create_subtask",
      "save_intermediate_data",
      "request_human_review",
      "save_intermediate_data",
      "complete_task",
    ]);
    const report = String(saved.get("report.md"));
    assert.match(
      report,
      /## The queue\n\nIt never loses a task\. \(\d+ words, `\/data\/docs\/queue/,
    );
    assert.match(report, /## notes\.md\n\nSome words without a heading\./);
    assert.match(report, /Mind the leases/);
    assert.deepEqual(output, {
      report: "report.md",
      files: 2,
      summary: "The report covers 2 documents of 15 words in all. " +
        "It was approved with the words: Mind the leases.",
    });
    assert.equal(journal.count("planner"), 6);
    assert.equal(journal.count("reader"), 6);
    assert.ok(journal.search("It never loses a task").length > 0);
  });
}

Deno.test("the planner stops after a rejected review", async () => {
  const [format] = WIRE_FORMATS;
  assert.ok(format);

  const { saved, output } = await play(format, { approved: false, comments: "Not now" });

  assert.ok(!saved.has("report.md"));
  assert.deepEqual(output, {
    report: null,
    files: 2,
    summary: "The review stopped the report. Not now",
  });
});

Deno.test("the demo model answers only the demo's agents", async () => {
  const server = await startModelServer({ agents: DEMO_AGENTS });
  const [format] = WIRE_FORMATS;
  assert.ok(format);

  const error = await call(format, server.url, request({ model: "demo" })).catch((thrown) =>
    thrown
  );
  await server.stop();

  assert.equal(error.code, "MODEL_NOT_FOUND");
  assert.match(error.message, /planner, reader/);
  assert.equal(server.journal.count(""), 1);
});
