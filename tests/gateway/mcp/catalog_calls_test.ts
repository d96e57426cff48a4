import assert from "node:assert/strict";
import { byteLength } from "../../../shared/platform/values/byte_length.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { jsonObject } from "../../../shared/platform/values/json_schema.ts";
import { catalogServer } from "../../../shared/servers/catalog/server.ts";
import type { Client } from "../../../shared/vendor/mcp_client.js";
import { z } from "../../../shared/vendor/zod.js";
import { sendRequest } from "../../e2e/create_task_endpoint.ts";
import { grantScopes, type McpPlatform, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { rawClient } from "./raw_message.ts";
import { connectSdkClient } from "./sdk_client.ts";
import { startStreamingModel } from "./streaming_model.ts";
import { useOpenRouter } from "./use_openrouter.ts";

const ENDPOINT = "/functions/v1/mcp-execute";

/** The outcome of one call, over any endpoint. */
interface Outcome {
  /** The HTTP status; over MCP only calls refused before dispatch have a status other than 200. */
  readonly status: number;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly structuredContent?: JsonObject | undefined;
}

type Call = (name: string, args: JsonObject) => Promise<Outcome>;

/** The values for the calls of the table. */
interface Material {
  readonly conversationId: string;
  readonly rulesetId: string;
  /** Conversations that may be deleted. */
  readonly spareIds: readonly string[];
}

/** A tool of the catalog: its documented scope, a call, and the expected answer. */
interface CatalogCall {
  readonly scope: string | null;
  args(material: Material, place: number): JsonObject;
  readonly answer: z.ZodType;
  /** The model's answer. */
  readonly script?: string;
}

const id = z.guid();
const ok = z.strictObject({ ok: z.literal(true) });
const usage = z.strictObject({
  tokens: z.literal(25),
  model: z.literal("streaming"),
  provider: z.literal("openrouter"),
  key_source: z.literal("organisation"),
});

const CALLS: Readonly<Record<string, CatalogCall>> = {
  enhance_prompt: {
    scope: "chat:write",
    args: ({ rulesetId }) => ({ text: "make it better", model: "streaming", rulesetId }),
    answer: z.strictObject({ text: z.literal("Better prompt"), usage }),
    script: "Better prompt",
  },
  draft_variations: {
    scope: "chat:write",
    args: () => ({ text: "Say hello", n: 2, style: "casual" }),
    answer: z.strictObject({ variants: z.tuple([z.literal("Hi"), z.literal("Hey you")]), usage }),
    script: '{"variants": ["Hi", "Hey you"]}',
  },
  validate_prompt: {
    scope: null,
    args: () => ({ text: "Write one sentence about stuff." }),
    answer: z.strictObject({
      issues: z.tuple([
        z.strictObject({
          code: z.literal("VAGUE_WORD"),
          message: z.string(),
          start: z.literal(25),
          end: z.literal(30),
        }),
      ]),
      suggestions: z.array(z.string()).length(1),
    }),
  },
  create_conversation: {
    scope: "conv:write",
    args: () => ({ title: "Another one" }),
    answer: z.strictObject({ id }),
  },
  add_message: {
    scope: "conv:write",
    args: ({ conversationId }, place) => ({
      conversationId,
      role: "assistant",
      content: "Hello",
      clientMessageId: `call-${place}`,
    }),
    answer: z.strictObject({ id }),
  },
  list_messages: {
    scope: "chat:read",
    args: ({ conversationId }) => ({ conversationId, limit: 1 }),
    answer: z.strictObject({
      messages: z.array(
        z.strictObject({ id, role: z.string(), content: z.string(), created_at: z.string() }),
      ).length(1),
    }),
  },
  delete_conversation: {
    scope: "conv:write",
    args: ({ spareIds }, place) => ({ conversationId: spareIds[place] ?? "" }),
    answer: ok,
  },
  export_conversation: {
    scope: "chat:read",
    args: ({ conversationId }) => ({ conversationId, format: "markdown" }),
    answer: z.strictObject({
      content: z.string().startsWith("# Talk"),
      mime: z.literal("text/markdown; charset=utf-8"),
    }),
  },
  list_rulesets: {
    scope: "ruleset:read",
    args: () => ({}),
    answer: z.strictObject({
      rulesets: z.array(z.strictObject({ id, name: z.string(), version: z.int().min(1) })).min(1),
    }),
  },
  get_ruleset: {
    scope: "ruleset:read",
    args: ({ rulesetId }) => ({ id: rulesetId }),
    answer: z.strictObject({
      id,
      name: z.literal("Style"),
      version: z.int().min(1),
      content: jsonObject,
    }),
  },
  save_ruleset: {
    scope: "ruleset:write",
    args: ({ rulesetId }, place) => ({
      id: rulesetId,
      content: { rules: [`Rule ${place}`] },
      ifMatchVersion: 1 + place,
    }),
    answer: z.strictObject({ id, version: z.int().min(2) }),
  },
  list_providers: {
    scope: null,
    args: () => ({}),
    answer: z.strictObject({
      providers: z.array(z.strictObject({ key: z.string(), label: z.string() })).min(3),
    }),
  },
  log_auth_event: {
    scope: null,
    args: () => ({ event: "SESSION_RESTORED", metadata: { platform: "web" } }),
    answer: ok,
  },
};

/** The plain name, the catalog key and the name that a list gives an older version. */
const NAMES = ["", "@1", "_v1"] as const;
const WAYS = ["mcp", "execute"] as const;
/** Every way to make a call. */
const SPELLINGS = NAMES.flatMap((suffix) => WAYS.map((way) => ({ way, suffix })));

Deno.test("every catalog tool can be called by each name, with its scope and its limits", async (t) => {
  await using model = startStreamingModel();
  await using platform = await sharedPlatform();
  const { sql } = platform;
  await useOpenRouter(sql, model.url);
  await using ada = await openCaller(platform, "ada");
  await using bare = await openCaller(platform, "bare");
  await grantScopes(sql, bare.user.id, []);
  const material = await makeMaterial(ada.calls.execute);

  await t.step("every tool has a row in the table", () => {
    const names = catalogServer.tools.map(({ definition: { name } }) => name);
    assert.deepEqual(Object.keys(CALLS).toSorted(), names.toSorted());
  });

  for (const [tool, { scope, args, answer, script }] of Object.entries(CALLS)) {
    await t.step(
      `${tool} can be called by each name, and is refused without ${scope ?? "a user"}`,
      async () => {
        model.script = [script ?? ""];
        for (const [place, { way, suffix }] of SPELLINGS.entries()) {
          const outcome = await ada.calls[way](`${tool}${suffix}`, args(material, place));
          assert.deepEqual([outcome.status, outcome.code], [200, undefined], describe(outcome));
          answer.parse(outcome.structuredContent);

          const refused = await bare.calls[way](`${tool}${suffix}`, args(material, 0));
          if (scope === null) {
            assert.deepEqual([refused.status, refused.code], [200, undefined], describe(refused));
          } else {
            assert.deepEqual([refused.status, refused.code], [403, "INSUFFICIENT_SCOPE"]);
            assert.ok(refused.message?.includes(scope), describe(refused));
          }
        }
        assert.deepEqual(await statusesUnsigned(platform, tool, args(material, 0)), [401, 401]);
      },
    );

    await t.step(`${tool} applies its limits under every name`, async () => {
      const largest = args(material, SPELLINGS.length);
      const calls = WAYS.length;
      await limit(sql, tool, ada.user.id, { calls, inputBytes: bytesOf(largest) });
      for (const way of WAYS) {
        const fitting = await ada.calls[way](tool, largest);
        assert.notEqual(fitting.code, "TOOL_INPUT_TOO_LARGE");
        assert.notEqual(fitting.code, "TOOL_RATE_LIMITED");
      }
      for (const { way, suffix } of SPELLINGS) {
        const refused = await ada.calls[way](`${tool}${suffix}`, largest);
        assert.equal(refused.code, "TOOL_RATE_LIMITED", `${way} ${suffix}`);
        assert.equal(refused.status, way === "mcp" ? 200 : 429);
      }

      await limit(sql, tool, ada.user.id, { calls, inputBytes: bytesOf(largest) - 1 });
      await sql`delete from private.tool_call_allowances where user_id = ${ada.user.id}`;
      for (const way of WAYS) {
        const refused = await ada.calls[way](tool, largest);
        assert.equal(refused.code, "TOOL_INPUT_TOO_LARGE");
        assert.equal(refused.status, way === "mcp" ? 200 : 413);
      }
    });
  }

  await t.step("calls are recorded under one name with their version", async () => {
    const rows = await sql<{ tool_name: string; tool_version: string }[]>`
      select distinct tool_name, tool_version from public.mcp_executions
      where user_id = ${ada.user.id} order by tool_name`;
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      Object.keys(CALLS).toSorted().map((tool_name) => ({ tool_name, tool_version: "1" })),
    );
  });
});

interface Caller extends AsyncDisposable {
  readonly user: McpUser;
  readonly calls: { readonly mcp: Call; readonly execute: Call };
}

async function openCaller(platform: McpPlatform, name: string): Promise<Caller> {
  const user = await platform.addUser(name);
  const connected = await connectSdkClient({
    url: `${platform.mcpUrl}/catalog`,
    headers: user.headers,
  });
  return {
    user,
    calls: {
      mcp: (tool, args) => callOverMcp(connected.client, tool, args),
      execute: (tool, args) => callExecute(platform, user, tool, args),
    },
    [Symbol.asyncDispose]: () => connected[Symbol.asyncDispose](),
  };
}

async function callOverMcp(client: Client, name: string, args: JsonObject): Promise<Outcome> {
  try {
    const { structuredContent, _meta } = await client.callTool({ name, arguments: args });
    const { code, message } = errorSchema.parse(_meta?.["dev.supaswarm/error"] ?? {});
    return {
      status: 200,
      code,
      message,
      structuredContent: jsonObject.optional().parse(structuredContent),
    };
  } catch (error) {
    const refusal = scopeErrorSchema.safeParse(error);
    if (!refusal.success) throw error;
    const { requiredScope, errorDescription } = refusal.data;
    return {
      status: 403,
      code: "INSUFFICIENT_SCOPE",
      message: `${requiredScope}: ${errorDescription}`,
    };
  }
}

async function callExecute(
  { project }: McpPlatform,
  { headers }: McpUser,
  tool_name: string,
  parameters: JsonObject,
): Promise<Outcome> {
  const { status, body } = await sendRequest(project, {
    endpoint: ENDPOINT,
    headers,
    body: { server: "catalog", tool_name, parameters },
  });
  const { error, error_code, structuredContent } = executedSchema.parse(body);
  return { status, code: error?.code ?? error_code, message: error?.message, structuredContent };
}

/** The SDK's error for an HTTP response about a missing scope. */
const scopeErrorSchema = z.object({ requiredScope: z.string(), errorDescription: z.string() });
const errorSchema = z.looseObject({ code: z.string().optional(), message: z.string().optional() });
/** Over MCP and as plain JSON, with the publishable key and no user. */
async function statusesUnsigned(
  { project }: McpPlatform,
  name: string,
  args: JsonObject,
): Promise<readonly number[]> {
  const headers = { apikey: project.publishableKey };
  const send = rawClient(project.apiUrl, headers);
  const overMcp = await send({
    path: "/catalog",
    method: "tools/call",
    params: { name, arguments: args },
  });
  const plain = await sendRequest(project, {
    endpoint: ENDPOINT,
    headers,
    body: { server: "catalog", tool_name: name, parameters: args },
  });
  return [overMcp.status, plain.status];
}

const executedSchema = z.looseObject({
  structuredContent: jsonObject.optional(),
  error_code: z.string().optional(),
  error: errorSchema.optional(),
});

async function makeMaterial(call: Call): Promise<Material> {
  const create = async (tool: string, args: JsonObject) =>
    id.parse((await call(tool, args)).structuredContent?.id);
  const conversationId = await create("create_conversation", { title: "Talk" });
  await call("add_message", { conversationId, role: "user", content: "Hi" });
  const content = { rules: ["Be brief"] };
  const rulesetId = await create("save_ruleset", { name: "Style", content });
  const spareIds: string[] = [];
  for (const title of [...SPELLINGS, ...WAYS].keys()) {
    spareIds.push(await create("create_conversation", { title: `Spare ${title}` }));
  }
  return { conversationId, rulesetId, spareIds };
}

/** A user's own policy for a tool; the allowance refills too slowly to matter. */
async function limit(
  sql: McpPlatform["sql"],
  tool: string,
  userId: string,
  { calls, inputBytes }: { readonly calls: number; readonly inputBytes: number },
): Promise<void> {
  await sql`
    insert into public.mcp_policies
      (mcp_name, tool_name, user_id, calls_per_minute, burst_calls, max_input_bytes)
    values ('catalog', ${tool}, ${userId}, 1, ${calls}, ${inputBytes})
    on conflict (mcp_name, tool_name, user_id) do update
    set max_input_bytes = excluded.max_input_bytes`;
}

function bytesOf(args: JsonObject): number {
  return byteLength(JSON.stringify(args));
}

function describe({ code, message }: Outcome): string {
  return `${code}: ${message}`;
}
