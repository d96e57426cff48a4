import assert from "node:assert/strict";
import { join } from "node:path";
import { readInput } from "../../client/chat_history.ts";
import { readableJson } from "../../client/json_text.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { timed } from "../../scripts/test/cpu_time.ts";
import {
  call,
  callStep,
  modelDone,
  systemStep,
  toolNamed,
} from "../../shared/engine/agent/agent_states.ts";
import { approvalNotice, reviewersWords } from "../../shared/engine/agent/approval_review.ts";
import { buildMessages, inputText } from "../../shared/engine/agent/build_messages.ts";
import { plainResultText, resultText } from "../../shared/engine/agent/result_text.ts";
import { summaryPrompt } from "../../shared/engine/agent/summary_prompt.ts";
import type { Review } from "../../shared/engine/agent/task_context.ts";
import { AgUiEvents } from "../../shared/engine/chat/ag_ui_events.ts";
import { jsonTextOf } from "../../shared/engine/worker/large_values.ts";
import { fillJson, fillText } from "../../shared/gateway/tools/kinds/http/template.ts";
import { answerOfResult } from "../../shared/gateway/tools/kinds/mcp/tool_result.ts";
import { knownGoodText } from "../../shared/gateway/tools/learning/known_good.ts";
import { toolErrorMessage } from "../../shared/gateway/tools/learning/retry_message.ts";
import { redactedMessages } from "../../shared/gateway/tools/redacted_messages.ts";
import type {
  ModelEndpoint,
  ModelMessage,
  ModelRequest,
} from "../../shared/models/llm/model_port.ts";
import { OfferedFunctions } from "../../shared/models/llm/offered_functions.ts";
import { toChatRequest } from "../../shared/models/llm/openai_messages.ts";
import { toResponsesRequest } from "../../shared/models/llm/openai_responses_input.ts";
import { ruleText } from "../../shared/models/tool_schemas/rule_text.ts";
import { createRedactor } from "../../shared/platform/secrets/redact.ts";
import { canonicalJson } from "../../shared/platform/values/canonical_json.ts";
import { csvLine } from "../../shared/platform/values/csv_line.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import {
  toJsonDocument,
  toMarkdownDocument,
} from "../../shared/servers/catalog/export_conversation.ts";
import { describeRuleset } from "../../shared/servers/catalog/enhance_prompt.ts";
import { coerceValue } from "../../shared/servers/sql/records/coerce_value.ts";
import { textOfValue } from "../../shared/servers/sql/results/result_table.ts";
import {
  resultsCsv,
  resultsJson,
  resultsTable,
} from "../../shared/servers/sql/results/results_text.ts";
import { RowsEncoder } from "../../shared/servers/sql/results/rows_encoder.ts";
import { DocumentParameter } from "../../shared/servers/supabase/document_parameter.ts";
import { GROWING_VALUES, objectOf } from "./deep_and_wide.ts";

/** A text may be so many times as long as the compact JSON of its value, and this much longer. */
const MAX_GROWTH = 2;
const MAX_ADDED_CHARACTERS = 10_000;
/** Three times what the slowest takes on an idle machine. */
const MAX_STEP_MS = 150;

/** What a module writes of one value, a text or what becomes JSON. */
type Write = (value: JsonValue) => unknown;

const CALLED = "search";
const TERMS = { outputSchema: null, mustComplete: false };
const REVIEW = { approved: true, comments: null } as Review;
const MESSAGE = { role: "user", created_at: "2026-01-01", client_message_id: null } as const;

function modelRequest(value: JsonValue): ModelRequest {
  const messages: ModelMessage[] = [
    { role: "user", text: inputText(value) },
    { role: "assistant", text: "", tool_calls: [call(CALLED, objectOf(value))] },
  ];
  return { model: "m", system: "", messages, tools: [] };
}

const parts = (request: ModelRequest) => ({
  functions: new OfferedFunctions(request, "openai"),
  output: null,
  endpoint: { baseUrl: "https://api.openai.com/v1" } as unknown as ModelEndpoint,
});

/** A conversation whose title and message are one half of the value's text each. */
function conversationOf(value: JsonValue) {
  const text = jsonTextOf(value);
  const content = text.slice(0, text.length / 2);
  const messages = [{ ...MESSAGE, id: "m", content }] as never;
  return { id: "c", title: text.slice(text.length / 2), created_at: "2026-01-01", messages };
}

const rowsOf = (value: JsonValue) => ({ columns: ["a"], rows: [[value]] });

function logged(value: JsonValue): JsonValue {
  const written: JsonValue[] = [];
  const { logs } = redactedMessages(
    {
      logs: { level: "info", write: ({ data }: { data: JsonValue }) => written.push(data) },
    } as never,
    { redactor: () => createRedactor([]) } as never,
  );
  logs?.write({ level: "info", data: value });
  return written;
}

function encoded(format: "csv" | "json", value: JsonValue): string {
  const { columns, rows } = rowsOf(value);
  const encoder = new RowsEncoder(format, columns, Infinity);
  for (const row of rows) encoder.add(row);
  return encoder.text();
}

function agUiEvents(value: JsonValue): unknown {
  const events = new AgUiEvents({ threadId: "t", runId: "r", messages: [] } as never);
  const id = { toolCallId: "c", toolName: CALLED };
  return [
    events.add({ type: "tool-input-available", ...id, input: value } as never),
    events.add({ type: "tool-output-available", ...id, output: null } as never),
  ];
}

/** What each module that turns values into text makes of a value: every way to write it. */
const WRITERS: Readonly<Record<string, readonly Write[]>> = {
  "client/chat_history.ts": [(value) => readInput(objectOf(value)).text],
  "client/json_text.ts": [readableJson],
  "shared/engine/agent/approval_review.ts": [
    (value) => approvalNotice({}, { ...REVIEW, approved_arguments: objectOf(value) }),
    (value) => reviewersWords({ ...REVIEW, response: value }),
  ],
  "shared/engine/agent/build_messages.ts": [
    inputText,
    (value) => buildMessages(value, [], TERMS),
    (value) =>
      buildMessages("", [
        modelDone(1, [call(CALLED)]),
        callStep(2, CALLED, { output: { of: value, execution_id: "e" } }),
      ], TERMS),
  ],
  "shared/engine/agent/result_text.ts": [
    (value) => plainResultText({ output: value }),
    (value) => resultText(systemStep(1, "create_subtask", { output: { output: value } })),
  ],
  "shared/engine/agent/summary_prompt.ts": [
    (value) =>
      summaryPrompt({ task: "", messages: modelRequest(value).messages.slice(1), maxWords: 100 }),
  ],
  "shared/engine/chat/ag_ui_events.ts": [agUiEvents],
  "shared/engine/worker/large_values.ts": [jsonTextOf],
  "shared/gateway/tools/kinds/http/template.ts": [
    (value) => fillText("{a}", { a: value }),
    (value) => fillJson({ a: "{a}", b: "b" }, { a: value }),
  ],
  "shared/gateway/tools/kinds/mcp/tool_result.ts": [
    (value) => answerOfResult({ content: [], structuredContent: objectOf(value) } as never).text,
  ],
  "shared/gateway/tools/learning/known_good.ts": [
    (value) => knownGoodText({ parameters: objectOf(value), isShape: false, successCount: 1 }),
  ],
  "shared/gateway/tools/learning/retry_message.ts": [
    (value) =>
      toolErrorMessage({
        tool: toolNamed(CALLED),
        arguments: objectOf(value),
        error: "It is wrong.",
        errorCode: "TOOL_ARGUMENTS_INVALID",
        attempt: 1,
        request: inputText(value),
      }),
  ],
  "shared/gateway/tools/redacted_messages.ts": [logged],
  "shared/models/llm/openai_messages.ts": [
    (value) => toChatRequest(modelRequest(value), parts(modelRequest(value))).messages.slice(1),
  ],
  "shared/models/llm/openai_responses_input.ts": [
    (value) => {
      const input = toResponsesRequest(modelRequest(value), parts(modelRequest(value))).input;
      return Array.isArray(input) ? input.slice(1) : input;
    },
  ],
  "shared/models/tool_schemas/rule_text.ts": [ruleText],
  "shared/platform/values/canonical_json.ts": [canonicalJson],
  "shared/platform/values/csv_line.ts": [(value) => csvLine([value])],
  "shared/servers/catalog/export_conversation.ts": [
    (value) => toJsonDocument(conversationOf(value)),
    (value) => toMarkdownDocument(conversationOf(value)),
  ],
  "shared/servers/catalog/enhance_prompt.ts": [
    (value) =>
      describeRuleset(
        { name: "r", content: { others: jsonTextOf(value).slice(0, 30_000) } } as never,
      ),
  ],
  "shared/servers/sql/records/coerce_value.ts": [
    (value) => coerceValue(value, { type: "text", labels: null }, null as never),
    (value) => coerceValue(value, { type: "bigint", labels: null }, null as never),
  ],
  "shared/servers/sql/results/result_table.ts": [textOfValue],
  "shared/servers/sql/results/results_text.ts": [
    (value) => resultsCsv(rowsOf(value)),
    (value) => resultsJson(rowsOf(value)),
    (value) => resultsTable(rowsOf(value)),
  ],
  "shared/servers/sql/results/rows_encoder.ts": [
    (value) => encoded("csv", value),
    (value) => encoded("json", value),
  ],
  "shared/servers/supabase/document_parameter.ts": [
    (value) => new DocumentParameter(objectOf(value)).toString(),
    (value) => new DocumentParameter([value]).toString(),
  ],
};

/** Modules that write no text which a value could make longer than its compact JSON. */
const NEVER_LONGER: Readonly<Record<"one copy" | "short" | "measured", readonly string[]>> = {
  // A request, event, line or answer that is the value's compact JSON once.
  "one copy": [
    "client/reviews.ts",
    "shared/app/deleted_files.ts",
    "shared/engine/chat/answer_stream.ts",
    "shared/engine/worker/artifact_storage.ts",
    "shared/gateway/tools/credentials/oauth/oauth_fetch.ts",
    "shared/gateway/tools/kinds/database/database_function_server.ts",
    "shared/gateway/tools/kinds/edge/edge_function_server.ts",
    "shared/gateway/tools/kinds/http/http_api_server.ts",
    "shared/gateway/tools/kinds/internal/open_internal_server.ts",
    "shared/app/workflow_host.ts",
    "shared/engine/workflows/checked_value.ts",
    "shared/engine/workflows/signal_url.ts",
    "shared/gateway/tools/kinds/mcp/reading/read_block.ts",
    "shared/gateway/tools/kinds/mcp/reading/read_call_result.ts",
    "shared/gateway/tools/kinds/mcp/reading/read_message.ts",
    "shared/gateway/tools/kinds/mcp/reading/read_response.ts",
    "shared/models/llm/answer_builder.ts",
    "shared/models/llm/answer_fields.ts",
    "shared/models/llm/native_output.ts",
    "shared/models/llm/openai_answer.ts",
    "shared/models/llm/openai_responses_answer.ts",
    "shared/platform/http/event_stream.ts",
    "shared/platform/log/logger.ts",
    "shared/platform/telemetry/span_exporter.ts",
    "shared/servers/catalog/draft_variations.ts",
    "shared/servers/quoth/embedders/embedding_request.ts",
    "shared/servers/supabase/add_records.ts",
    "shared/servers/supabase/execute_sql.ts",
    "shared/servers/supabase/generate_schema.ts",
    "shared/servers/supabase/insert_records.ts",
    "shared/servers/supabase/order_tables.ts",
  ],
  // A name, a setting of the project, or a beginning.
  "short": [
    "client/create_swarm.ts",
    "shared/engine/agent/reading_job.ts",
    "shared/engine/chat/sql_chat_platform.ts",
    "shared/engine/definitions/file_problems.ts",
    "shared/engine/skills/find_skills.ts",
    "shared/engine/workflows/run_workflow.ts",
    "shared/engine/workflows/seconds_of.ts",
    "shared/engine/workflows/workflow_run.ts",
    "shared/gateway/mcp/shared_lists.ts",
    "shared/gateway/tools/credentials/oauth/authorization_server.ts",
    "shared/gateway/tools/credentials/oauth/confirmation.ts",
    "shared/gateway/tools/ledger_entry.ts",
    "shared/models/llm/offered_functions.ts",
    "shared/models/tool_schemas/fold_root.ts",
    "shared/models/tool_schemas/metered_schema.ts",
    "shared/models/tool_schemas/schema_problems.ts",
    "shared/platform/config/env.ts",
    "shared/platform/config/env_variables.ts",
    "shared/platform/db/run_as_user.ts",
    "shared/platform/secrets/escapable_patterns.ts",
    "shared/platform/values/json_path.ts",
    "shared/servers/as_owner.ts",
    "shared/servers/sql/results/describe_results.ts",
    "shared/servers/supabase/validate_sql.ts",
  ],
  // Compared, searched or counted, and then dropped.
  "measured": [
    "shared/gateway/mcp/build_server.ts",
    "shared/gateway/tool_contracts/connection_state.ts",
    "shared/gateway/tools/answer_notices.ts",
    "shared/models/llm/estimated_tokens.ts",
    "shared/models/llm/openai_reasoning.ts",
    "shared/models/llm/request_downgrades.ts",
    "shared/models/tool_schemas/function_definition.ts",
    "shared/models/tool_schemas/validate_value.ts",
    "shared/servers/sql/classify_sql.ts",
    "shared/servers/sql/name_objects.ts",
    "shared/servers/sql/schema/database_schema.ts",
  ],
};

/** A call that writes text: neither a copy of a value nor a measure of its length. */
const WRITES_JSON =
  /(?<!JSON\.parse\(|[lL]ength\()\b(?:JSON\.stringify|readableJson)\((?!(?:[^()]|\([^()]*\))*\)\.length)/;

/** The modules of the functions and of the client that turn values into text. */
async function textWriters(): Promise<string[]> {
  const found: string[] = [];
  const search = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(join(PROJECT_ROOT, folder))) {
      const path = `${folder}/${name}`;
      if (isDirectory) {
        if (path !== "shared/vendor" && path !== "client/command") await search(path);
      } else if (/(?<!_test)\.ts$/.test(name)) {
        const source = await Deno.readTextFile(join(PROJECT_ROOT, path));
        if (WRITES_JSON.test(source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ""))) found.push(path);
      }
    }
  };
  for (const folder of ["client", "shared"]) await search(folder);
  return found.sort();
}

Deno.test("every module that turns values into text is tested here", async () => {
  const known = [...Object.keys(WRITERS), ...Object.values(NEVER_LONGER).flat()].sort();

  assert.deepEqual(await textWriters(), known);
});

Deno.test("no value makes a text much longer than itself, or a long step", async (t) => {
  for (const [path, writers] of Object.entries(WRITERS)) {
    await t.step(path, () => {
      const failed: string[] = [];
      for (const [shape, value] of Object.entries(GROWING_VALUES)) {
        const most = MAX_GROWTH * JSON.stringify(value).length + MAX_ADDED_CHARACTERS;
        for (const write of writers) {
          const { value: written, cpuMs } = timed(() => write(value), MAX_STEP_MS);
          const length = (typeof written === "string" ? written : JSON.stringify(written)).length;
          if (length > most) failed.push(`${shape}: ${length} characters instead of ${most}`);
          if (cpuMs > MAX_STEP_MS) failed.push(`${shape}: ${Math.round(cpuMs)} ms of CPU time`);
        }
      }
      assert.deepEqual(failed, []);
    });
  }
});
