/**
 * The platform's client of external servers as the suite's client scenarios start it, with the
 * address of the suite's server as the last argument: it lists, reads and calls everything.
 */
import { z } from "../../shared/vendor/zod.js";
import { asJsonObject, type JsonObject } from "../../shared/platform/values/json.ts";
import { jsonObject } from "../../shared/platform/values/json_schema.ts";
import { UNKNOWN_CONNECTION } from "../../shared/gateway/tool_contracts/connection_state.ts";
import { mcpFeatures, openMcpServer } from "../../shared/gateway/tools/kinds/mcp/mcp_server.ts";
import { createGuardedFetch } from "../../shared/platform/net/guarded_fetch.ts";
import type { ToolDefinition } from "../../shared/gateway/tool_contracts/tool_definition.ts";
import type {
  CallInput,
  ServerAnswer,
  ToolServer,
} from "../../shared/gateway/tool_contracts/tool_server.ts";
import { withOAuth } from "./client_oauth.ts";

const TIMEOUT_MS = 20_000;
const CALLER = {
  userId: null,
  agentId: null,
  taskId: null,
  clientId: null,
  sessionId: null,
  clientName: null,
  isService: true,
};

const contextSchema = z.looseObject({
  toolCalls: z.array(z.object({ name: z.string(), arguments: jsonObject })).default([]),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});

const url = Deno.args.at(-1) ?? "";
const context = contextSchema.parse(JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}"));
const signal = AbortSignal.timeout(TIMEOUT_MS);
const guardedFetch = createGuardedFetch({ allowLoopback: true });
let state = UNKNOWN_CONNECTION;

// Opened for each request, as the gateway does, with the state of the connection.
const open = (): ToolServer =>
  openMcpServer({
    slug: "suite",
    config: { mcp_url: url },
    credential: null,
    extraSecrets: [],
    timeoutMs: TIMEOUT_MS,
    state,
    saveState: (next) => {
      state = next;
      return Promise.resolve();
    },
    fetch: send,
  });
const send = withOAuth(guardedFetch, {
  serverUrl: url,
  clientId: context.client_id,
  clientSecret: context.client_secret,
});

const { tools } = await open().listTools(signal);
for (const tool of tools) {
  const wanted = context.toolCalls.filter(({ name }) => name === tool.name);
  const argumentSets = wanted.length > 0 ? wanted.map((call) => call.arguments) : [sample(tool)];
  for (const args of argumentSets) await callUntilAnswered(tool, args);
}
const { hasResources, hasPrompts } = mcpFeatures(state);
if (hasResources) {
  const { resources } = await relay("resources/list", {});
  for (const { uri = "" } of listOf(resources)) await relay("resources/read", { uri });
}
if (hasPrompts) {
  const { prompts } = await relay("prompts/list", {});
  for (const { name = "" } of listOf(prompts)) await relay("prompts/get", { name });
}
Deno.exit(0);

async function relay(
  method: "resources/list" | "resources/read" | "prompts/list" | "prompts/get",
  params: JsonObject,
): Promise<JsonObject> {
  const input = { capabilities: {}, responses: null, state: null };
  const request = { method, params, input, caller: CALLER, timeoutMs: TIMEOUT_MS };
  return await open().relay?.(request, signal) ?? {};
}

async function callUntilAnswered(definition: ToolDefinition, args: JsonObject): Promise<void> {
  const capabilities = { elicitation: { form: {} } };
  let input: CallInput = { capabilities, responses: null, state: null };
  for (let round = 0; round < 5; round++) {
    const answer = await call(definition, args, input);
    if (answer.kind === "lost") throw new Error(`${definition.name}: ${answer.message}`);
    if (answer.kind === "answered") return;
    const responses = Object.fromEntries(
      Object.keys(answer.inputRequests).map((key) => [
        key,
        { action: "accept", content: { confirmed: true } },
      ]),
    );
    input = { capabilities, responses, state: answer.requestState ?? null };
  }
  throw new Error(`${definition.name} keeps asking`);
}

async function call(
  definition: ToolDefinition,
  args: JsonObject,
  input: CallInput,
): Promise<ServerAnswer> {
  return await open().callTool({
    definition,
    arguments: args,
    caller: CALLER,
    executionId: crypto.randomUUID(),
    stepSeq: null,
    idempotencyKey: crypto.randomUUID(),
    traceparent: null,
    tracestate: null,
    timeoutMs: TIMEOUT_MS,
    onProgress: null,
    onText: null,
    logs: null,
    input,
    approval: "none",
    onModelUse: () => {},
    grantedScopes: null,
    onUnrecordedValue: () => {},
  }, signal);
}

/** Arguments that match a simple schema. */
function sample({ inputSchema }: ToolDefinition): JsonObject {
  const properties = Object.entries(asJsonObject(inputSchema.properties));
  return Object.fromEntries(properties.map(([name, property]) => {
    const { type } = asJsonObject(property);
    return [name, type === "number" || type === "integer" ? 5 : type === "boolean" ? true : "x"];
  }));
}

function listOf(value: unknown): JsonObject[] {
  return z.array(jsonObject).catch([]).parse(value);
}
