import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { textBlock } from "../../../shared/platform/values/content_block.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import {
  defineTool,
  inputRequired,
  type InternalServer,
  reply,
} from "../../../shared/gateway/tool_contracts/internal_server.ts";
import { openInternalServer } from "../../../shared/gateway/tools/kinds/internal/open_internal_server.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import type { ToolProgress } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { ModelUse, ServerCall } from "../../../shared/gateway/tool_contracts/tool_server.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { noAbort, nobody, SECRET_KEY } from "./tool_fixture.ts";

const READ = { readOnlyHint: true } as const;
const USED: ModelUse = {
  provider: "p",
  model: "m",
  keySource: "organisation",
  inputTokens: 3,
  outputTokens: 1,
};
const base = { title: "A tool", description: "Does it", version: "1", scopes: [] };

const server: InternalServer = {
  name: "sample",
  title: "Sample",
  description: "One tool of each kind",
  tools: [
    defineTool({
      ...base,
      name: "double",
      annotations: READ,
      input: z.object({ n: z.int().default(2) }),
      output: z.strictObject({ twice: z.int() }),
      run: ({ n }, context) => {
        context.progress(1, 2, "half");
        context.usedModel(USED);
        return Promise.resolve({ twice: n * 2 });
      },
    }),
    defineTool({
      ...base,
      name: "careful",
      annotations: READ,
      input: z.object({ writes: z.boolean() }),
      output: z.object({ kind: z.string() }),
      run: ({ writes }, context) => {
        if (writes) context.requireScopes(["sample:write"]);
        context.keepFromLedger("token-of-one-use");
        return Promise.resolve(reply([textBlock("token-of-one-use")], {
          isError: true,
          errorCode: "CONFIRMATION_REQUIRED",
          hint: "Confirm it.",
          details: { missing: ["confirmation_token"] },
          structured: { kind: "write" },
          meta: { seen: true },
        }));
      },
    }),
    defineTool({
      ...base,
      name: "liar",
      annotations: READ,
      input: z.object({}),
      output: z.object({ n: z.int() }),
      run: () => Promise.resolve({ n: "many" as unknown as number }),
    }),
    defineTool({
      ...base,
      name: "blocks",
      annotations: READ,
      input: z.object({}),
      run: () =>
        Promise.resolve(reply([
          textBlock("seen"),
          { type: "image", data: "AA==", mimeType: "image/png" },
          { type: "resource", resource: { uri: "test://a", text: "inside" } },
        ], { meta: { pages: 1 } })),
    }),
    defineTool({
      ...base,
      name: "conflict",
      annotations: READ,
      input: z.object({}),
      run: () =>
        Promise.resolve(
          new SwarmError("STEP_CONFLICT", "It has changed", {
            hint: "Read it again",
            details: { last_sql: "select 1" },
          }),
        ),
    }),
    defineTool({
      ...base,
      name: "asks",
      annotations: READ,
      input: z.object({}),
      run: (_, { acceptsInput, inputResponses, requestState }) =>
        Promise.resolve(
          inputResponses !== null
            ? reply([textBlock(JSON.stringify([inputResponses, requestState]))])
            : acceptsInput
            ? inputRequired({ name: { method: "elicitation/create", params: {} } }, "state")
            : reply([textBlock("not asked")]),
        ),
    }),
    defineTool({
      ...base,
      name: "insists",
      annotations: READ,
      input: z.object({}),
      run: () =>
        Promise.resolve(inputRequired({ q: { method: "sampling/createMessage", params: {} } })),
    }),
    defineTool({
      ...base,
      name: "whoami",
      annotations: READ,
      input: z.object({}),
      output: z.object({ user: z.string(), role: z.string() }),
      run: (_, context) =>
        context.runAsCaller(async (sql) => {
          const [row] = await sql<{ user: string; role: string }[]>`
            select auth.uid()::text as user, current_user::text as role`;
          return { user: row?.user ?? "", role: row?.role ?? "" };
        }),
    }),
    defineTool({
      ...base,
      name: "waits",
      annotations: READ,
      input: z.object({}),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason))
        ),
    }),
  ],
  resources: [{
    uri: "test://fixed",
    name: "fixed",
    scopes: [],
    read: () => Promise.resolve([{ uri: "test://fixed", text: "here" }]),
  }],
  resourceTemplates: [{
    uriTemplate: "test://item/{id}/data",
    name: "item",
    scopes: [],
    read: (uri, { id }) => Promise.resolve(id === "0" ? null : [{ uri, text: `item ${id}` }]),
  }],
  prompts: [{
    name: "greet",
    description: "Greets",
    arguments: [{ name: "who", isRequired: true }],
    scopes: [],
    get: ({ who }) => Promise.resolve([{ role: "user", content: textBlock(`Hello ${who}`) }]),
  }],
};

const NO_INPUT = { capabilities: {}, responses: null, state: null };

Deno.test("an internal server's declarations become answers", async (t) => {
  const fixture = await openFixtureOnSharedDatabase();
  const logged: string[] = [];
  const opened = openInternalServer({
    server,
    slug: "sample",
    callModel: () => Promise.reject(new Error("No model is called here")),
    sql: fixture.sql,
    supabaseUrl: "http://127.0.0.1:9",
    publicUrl: "http://127.0.0.1:9",
    secretKey: SECRET_KEY,
    fetch,
    log: (_level, event) => logged.push(event),
  });
  const progress: ToolProgress[] = [];
  const used: ModelUse[] = [];
  const unrecorded: string[] = [];

  function call(name: string, args: JsonObject = {}, parts: Partial<ServerCall> = {}) {
    const tool = server.tools.find(({ definition }) => definition.name === name);
    assert.ok(tool);
    return opened.callTool({
      definition: tool.definition,
      arguments: args,
      caller: nobody(),
      executionId: crypto.randomUUID(),
      stepSeq: null,
      idempotencyKey: "key",
      traceparent: null,
      tracestate: null,
      timeoutMs: 5_000,
      onProgress: (done) => progress.push(done),
      onText: null,
      logs: null,
      input: NO_INPUT,
      approval: "none",
      onModelUse: (use) => used.push(use),
      grantedScopes: ["sample:read"],
      onUnrecordedValue: (value) => unrecorded.push(value),
      ...parts,
    }, noAbort());
  }

  await t.step("output is validated and is its own text; defaults are filled in", async () => {
    const answer = await call("double");

    assert.ok(answer.kind === "answered" && !answer.isError);
    assert.deepEqual(answer.structured, { twice: 4 });
    assert.equal(answer.text, '{"twice":4}');
    assert.deepEqual(used, [USED]);
    assert.deepEqual(progress, [{ done: 1, total: 2, message: "half" }]);
  });

  await t.step("zod definitions become input and output schemas", () => {
    const [double] = server.tools;
    assert.deepEqual(double?.definition.inputSchema.required, undefined);
    assert.deepEqual(double?.definition.outputSchema?.required, ["twice"]);
  });

  await t.step("a stable code has structured content, details and _meta", async () => {
    const answer = await call("careful", { writes: false });

    assert.ok(answer.kind === "answered" && answer.isError);
    assert.equal(answer.errorCode, "CONFIRMATION_REQUIRED");
    assert.equal(answer.hint, "Confirm it.");
    assert.deepEqual(answer.details, { missing: ["confirmation_token"] });
    assert.deepEqual(answer.structured, { kind: "write" });
    assert.deepEqual(answer.meta, { seen: true });
    assert.deepEqual(unrecorded, ["token-of-one-use"]);
  });

  await t.step("a tool may require further scopes, depending on its arguments", async () => {
    const refused = await call("careful", { writes: true });
    const granted = await call("careful", { writes: true }, { grantedScopes: null });

    assert.ok(refused.kind === "answered" && refused.errorCode === "INSUFFICIENT_SCOPE");
    assert.deepEqual(refused.details, { missing_scopes: ["sample:write"] });
    assert.ok(granted.kind === "answered" && granted.errorCode === "CONFIRMATION_REQUIRED");
  });

  await t.step("arguments that zod refuses never reach the tool", async () => {
    const answer = await call("double", { n: "x" });

    assert.ok(answer.kind === "answered" && answer.errorCode === "TOOL_ARGUMENTS_INVALID");
  });

  await t.step("output that violates the tool's schema is an internal error", async () => {
    const answer = await call("liar");

    assert.ok(answer.kind === "answered" && answer.errorCode === "INTERNAL");
    assert.deepEqual(logged, ["tool.internal_error"]);
  });

  await t.step("blocks are passed on unchanged", async () => {
    const answer = await call("blocks");

    assert.ok(answer.kind === "answered");
    assert.deepEqual(answer.content?.map(({ type }) => type), ["text", "image", "resource"]);
    assert.match(answer.text, /seen\n\(image of type image\/png, not shown\)\ninside/);
    assert.deepEqual(answer.meta, { pages: 1 });
  });

  await t.step("a SwarmError keeps its code, hint and details", async () => {
    const answer = await call("conflict");

    assert.ok(answer.kind === "answered" && answer.errorCode === "STEP_CONFLICT");
    assert.equal(answer.hint, "Read it again");
    assert.deepEqual(answer.details, { last_sql: "select 1" });
  });

  await t.step("a caller with elicitation is asked, and its answers are returned", async () => {
    const plain = await call("asks");
    const asked = await call("asks", {}, {
      input: { capabilities: { elicitation: {} }, responses: null, state: null },
    });
    const input = {
      capabilities: { elicitation: {} },
      responses: { name: { action: "accept" } },
      state: "state",
    };
    const answered = await call("asks", {}, { input });

    const unable = await call("insists");
    assert.ok(unable.kind === "answered" && unable.errorCode === "TOOL_ASKS_MORE");
    assert.deepEqual(unable.details, { required_capabilities: { sampling: {} } });
    assert.ok(plain.kind === "answered" && plain.text === "not asked");
    assert.ok(asked.kind === "input_required" && asked.requestState === "state");
    assert.ok(answered.kind === "answered");
    assert.equal(answered.text, '[{"name":{"action":"accept"}},"state"]');
  });

  await t.step("runAsCaller uses the user's role, and none without a user", async () => {
    const userId = await fixture.createUser();
    const caller: ToolCaller = { ...nobody(), userId };

    const own = await call("whoami", {}, { caller });
    const none = await call("whoami");

    assert.ok(own.kind === "answered");
    assert.deepEqual(own.structured, { user: userId, role: "authenticated" });
    assert.ok(none.kind === "answered" && none.errorCode === "CALLER_REQUIRED");
  });

  await t.step("a tool that takes too long is stopped", async () => {
    const answer = await call("waits", {}, { timeoutMs: 50 });

    assert.ok(answer.kind === "lost" && answer.cause === "timeout");
  });

  await t.step("resources and prompts are listed and read", async () => {
    const relay = (
      method: Parameters<NonNullable<typeof opened.relay>>[0]["method"],
      params = {},
    ) =>
      opened.relay?.(
        { method, params, input: NO_INPUT, caller: nobody(), timeoutMs: 1_000 },
        noAbort(),
      );

    assert.deepEqual(await relay("resources/read", { uri: "test://fixed" }), {
      contents: [{ uri: "test://fixed", text: "here" }],
    });
    assert.deepEqual(await relay("resources/read", { uri: "test://item/7/data" }), {
      contents: [{ uri: "test://item/7/data", text: "item 7" }],
    });
    const listed = await relay("resources/list");
    assert.match(JSON.stringify(listed), /"uri":"test:\/\/fixed"/);
    for (const uri of ["test://item/0/data", "test://nothing", "test://item/7/data/more"]) {
      await assert.rejects(async () => await relay("resources/read", { uri }), {
        code: "RESOURCE_NOT_FOUND",
      });
    }
    assert.match(
      JSON.stringify(await relay("prompts/get", { name: "greet", arguments: { who: "Ann" } })),
      /Hello Ann/,
    );
    await assert.rejects(async () => await relay("prompts/get", { name: "greet" }), {
      code: "TOOL_ARGUMENTS_INVALID",
    });
  });

  await fixture.stop();
});
