import assert from "node:assert/strict";
import { ensureKeys } from "../../../stack/keys/keys.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { createTracedApp } from "../../../shared/app/app.ts";
import { createCreateTaskApp } from "../../../shared/app/create_task_app.ts";
import { readConfig } from "../../../shared/platform/config/env.ts";
import type { Span } from "../../../shared/platform/telemetry/span.ts";
import { spanIdOf } from "../../../shared/platform/telemetry/span_context.ts";
import { createTelemetry, type Telemetry } from "../../../shared/platform/telemetry/telemetry.ts";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import { createToolGateway } from "../../../shared/gateway/tools/gateway.ts";
import type { ToolCallRequest } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import type { TaskStore } from "../../../shared/engine/worker/task_store.ts";
import { startHttpServer } from "../../gateway/tools/http_fixture.ts";
import { startMcpServer } from "../../gateway/tools/mcp_fixture.ts";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import { type CollectedSpan, rootsOf, startCollector } from "./otlp_collector.ts";
import { answered, ask, type ModelScript, Swarm, turnNumber } from "./swarm_fixture.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER_SPAN = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE_ID}-${CALLER_SPAN}-01`;
const TRACESTATE = "vendor=abc,other@sys=1";
const INPUT = "a prompt that no trace may contain";
const SECRET_KEY = "sb_secret_tr4ce_c4n4ry";

const complete = { calls: [ask("complete_task", { output: "done" })] };
const never = () => new Promise<never>(() => {});

/** The endpoint of `supaswarm-create-task`, and a function that creates a task through it. */
async function openEndpoint(swarm: Swarm, endpoint: string | null) {
  const keys = await ensureKeys(null);
  const environment: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: swarm.url,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: keys.secretKey }),
    SUPABASE_JWKS: JSON.stringify(keys.jwks),
    // The test and the database use the same thread.
    SUPASWARM_CPU_HARD_MS: "0",
    ...(endpoint === null ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
  };
  const config = readConfig((name) => environment[name]);
  const app = createTracedApp("supaswarm-create-task", createCreateTaskApp, config, () => {});
  const create = async (headers: Record<string, string> = {}): Promise<string> => {
    const response = await app.fetch(
      new Request("http://localhost/supaswarm-create-task", {
        method: "POST",
        headers: { apikey: keys.secretKey, ...headers },
        body: JSON.stringify({ agent: "test-planner", input: INPUT }),
      }),
    );
    const body = await response.json();
    assert.equal(response.status, 201, JSON.stringify(body));
    return body.task_id;
  };
  return { create, close: app.close };
}

function workerTelemetry(endpoint: string): Telemetry {
  return createTelemetry({
    settings: {
      tracesEndpoint: `${endpoint}/v1/traces`,
      headers: {},
      serviceName: "test",
      resourceAttributes: {},
    },
    functionName: "supaswarm-worker",
    secrets: [SECRET_KEY],
    log: () => {},
  });
}

/** Gives both agents a tool of every type that uses HTTP. */
async function addTools(swarm: Swarm, urls: { readonly web: string; readonly mcp: string }) {
  const parameters = { type: "object", properties: { q: { type: "string" } } };
  const rows = [
    ["web", "http_api", { url: `${urls.web}/web`, method: "GET", parameters }],
    ["notes", "mcp_server", { mcp_url: urls.mcp }],
    ["edge", "supabase_rpc", { edge_function: "summarise" }],
  ] as const;
  for (const [slug, type, config] of rows) {
    await swarm.sql`
      with tool as (
        insert into public.tools (name, slug, type, config)
        values (${slug}, ${slug}, ${type}, ${swarm.sql.json(config)}) returning id
      )
      insert into public.agent_tools (agent_id, tool_id)
      select agents.id, tool.id from public.agents, tool where agents.slug like 'test-%'`;
  }
}

/** The planner calls every tool and hands off; the reader calls the web. */
const model: ModelScript = (call) => {
  if (turnNumber(call) > 0) return complete;
  if (call.context.task.agent_slug === "test-reader") return { calls: [ask(offered(call, "web"))] };
  return {
    calls: [
      ask(offered(call, "web")),
      ask(offered(call, "search"), { searchValue: "x" }),
      ask(offered(call, "summarise")),
      ask("create_subtask", { agent: "test-reader", input: "read" }),
    ],
  };
};

function offered({ prompt }: TaskModelCall, part: string): string {
  const name = prompt.tools.map((tool) => tool.name).find((known) => known.includes(part));
  assert.ok(name !== undefined, `${part} is not among ${prompt.tools.map((tool) => tool.name)}`);
  return name;
}

function spanOf(taskId: string): Span {
  const context = { traceId: taskId.replaceAll("-", ""), spanId: CALLER_SPAN, flags: 1 };
  return {
    context: { ...context, tracestate: null },
    parentSpanId: null,
    name: "before",
    kind: "internal",
    startMs: 1,
    endMs: 2,
    attributes: {},
    errorCode: null,
  };
}

function only(spans: readonly CollectedSpan[], what: (span: CollectedSpan) => boolean) {
  const found = spans.filter(what);
  assert.equal(found.length, 1, JSON.stringify(spans.map(({ name }) => name)));
  return found[0] as CollectedSpan;
}

/** A store whose worker stops when it is about to write a third time. */
function dyingStore(store: TaskStore): TaskStore {
  let writes = 0;
  const step = <T>(write: () => Promise<T>): Promise<T> => ++writes > 2 ? never() : write();
  return {
    ...store,
    claim: (id, limit) => writes > 2 ? never() : store.claim(id, limit),
    heartbeat: (id, leases) => writes > 2 ? never() : store.heartbeat(id, leases),
    begin: (lease, intents) => step(() => store.begin(lease, intents)),
    record: (lease, results, next) => step(() => store.record(lease, results, next)),
    finish: (...end) => step(() => store.finish(...end)),
  };
}

Deno.test("a job's spans form one tree from the request to tools and subtasks", async () => {
  const swarm = await Swarm.open();
  const collector = startCollector();
  const web = startHttpServer(() => Response.json({ ok: true }));
  const mcp = await startMcpServer();
  await addTools(swarm, { web: web.url, mcp: mcp.url });
  const endpoint = await openEndpoint(swarm, collector.server.url);
  const telemetries = [1, 2].map(() => workerTelemetry(collector.server.url));
  const gateway = createToolGateway({
    sql: swarm.sql,
    internalServers: INTERNAL_SERVERS,
    supabaseUrl: web.url,
    secretKey: SECRET_KEY,
    allowLoopback: true,
    log: () => {},
  });
  /** The reader is slower than its parent, which therefore parks. */
  const slowReader: ModelScript = async (call) => {
    const { parent_id: parentId } = call.context.task;
    if (parentId !== null) await swarm.until(parentId, "pending_subtask");
    return await model(call);
  };
  const workers = telemetries.map((telemetry) =>
    swarm.startWorker({ model: slowReader, gateway, telemetry, slots: 1 })
  );
  try {
    const taskId = await endpoint.create({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
    await swarm.until(taskId, "completed");
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all([...telemetries.map((telemetry) => telemetry.close()), endpoint.close()]);
    const spans = collector.spans();

    assert.deepEqual([...new Set(spans.map(({ traceId }) => traceId))], [TRACE_ID]);
    assert.deepEqual([...new Set(spans.map(({ traceState }) => traceState))], [TRACESTATE]);
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
    const root = only(spans, (span) => rootsOf(spans).includes(span));
    assert.deepEqual([root.name, root.parentSpanId, root.from], [
      "POST /supaswarm-create-task",
      CALLER_SPAN,
      "supaswarm-create-task",
    ]);

    const planner = spans.filter(({ name }) => name === "invoke_agent test-planner");
    assert.deepEqual(planner.map((span) => span.attributes["supaswarm.run.end"]).sort(), [
      "completed",
      "parked",
    ]);
    assert.ok(planner.every(({ parentSpanId }) => parentSpanId === root.spanId));
    const handOff = only(spans, ({ name }) => name === "execute_tool create_subtask");
    assert.ok(planner.some(({ spanId }) => spanId === handOff.parentSpanId));
    const reader = only(spans, ({ name }) => name === "invoke_agent test-reader");
    assert.equal(reader.parentSpanId, handOff.spanId);
    assert.equal(reader.attributes["supaswarm.parent_task_id"], taskId);
    const chats = spans.filter(({ name }) => name === "chat script-1");
    assert.equal(chats.length, 4);
    assert.ok(chats.every((span) => span.attributes["gen_ai.operation.name"] === "chat"));
    assert.ok(chats.every((span) => Number(span.attributes["gen_ai.usage.input_tokens"]) > 0));

    const toolSpan = (tool: string, ofTask: (id: unknown) => boolean) =>
      only(
        spans,
        ({ name, attributes }) =>
          name === `execute_tool ${tool}` && ofTask(attributes["supaswarm.task_id"]),
      );
    const traceHeaders = (
      headers: Headers,
    ) => [headers.get("traceparent"), headers.get("tracestate")];
    const named = ({ spanId }: CollectedSpan) => [`00-${TRACE_ID}-${spanId}-01`, TRACESTATE];
    assert.deepEqual(
      web.seen.filter(({ url }) => url.pathname === "/web").map(({ headers }) =>
        traceHeaders(headers)
      )
        .sort(),
      [toolSpan("web", (id) => id === taskId), toolSpan("web", (id) => id !== taskId)]
        .map(named).sort(),
    );
    const edge = web.seen.filter(({ url }) => url.pathname === "/functions/v1/summarise");
    const edgeSpan = toolSpan("summarise", (id) => id === taskId);
    assert.deepEqual(edge.map(({ headers }) => traceHeaders(headers)), [named(edgeSpan)]);
    const mcpCalls = mcp.seen.filter(({ method }) => method === "tools/call");
    const mcpSpan = toolSpan("search", (id) => id === taskId);
    assert.deepEqual(mcpCalls.map(({ headers }) => traceHeaders(headers)), [named(mcpSpan)]);
    assert.deepEqual(
      mcpCalls.map(({ meta }) => [meta?.traceparent, meta?.tracestate]),
      [named(mcpSpan)],
    );

    const exported = collector.server.seen.map(({ body }) => body).join("\n");
    for (const hidden of [INPUT, SECRET_KEY, "searchValue"]) assert.ok(!exported.includes(hidden));
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all([...telemetries.map((telemetry) => telemetry.close()), endpoint.close()]);
    await Promise.all([collector.server.stop(), web.stop(), mcp.stop()]);
    await swarm.close();
  }
});

Deno.test("failed and unsampled jobs have correct traces", async (t) => {
  const swarm = await Swarm.open();
  const collector = startCollector();
  const telemetry = workerTelemetry(collector.server.url);
  const endpoint = await openEndpoint(swarm, collector.server.url);
  const tools = [toolNamed("read", { isReadOnly: true })];
  const readOnce: ModelScript = (call) =>
    turnNumber(call) === 0 ? { calls: [ask("read")] } : complete;
  const requests: ToolCallRequest[] = [];
  const callTool = (request: ToolCallRequest) => {
    requests.push(request);
    return answered("fine");
  };
  const base = { model: readOnce, tools, callTool };
  /** Runs one task to its end and returns the spans of its trace. */
  const trace = async (
    taskId: string,
    traceId: string,
    parts: Parameters<Swarm["startWorker"]>[0],
    status = "completed",
  ) => {
    const worker = swarm.startWorker({ telemetry, ...parts });
    await swarm.until(taskId, status);
    await worker.stop();
    await telemetry.close();
    return collector.spans().filter((span) => span.traceId === traceId);
  };
  try {
    await t.step("only a killed worker's own steps lack a parent span", async () => {
      const traceId = "1".repeat(32);
      const taskId = await endpoint.create({ traceparent: TRACEPARENT.replace(TRACE_ID, traceId) });
      const victim = workerTelemetry(collector.server.url);
      requests.length = 0;
      const { worker: dead } = swarm.startWorker({
        ...base,
        telemetry: victim,
        store: dyingStore,
      });
      await waitFor(async () => {
        await victim.flush();
        return collector.spans().some((span) =>
          span.traceId === traceId && span.name === "execute_tool read"
        );
      });
      await victim.close();
      await swarm.endLease(taskId);

      const spans = await trace(taskId, traceId, base);
      void dead.unload();

      const [first] = await swarm.sql`
        select epoch::text from public.task_steps where task_id = ${taskId}::uuid order by seq limit 1`;
      const deadRun = await spanIdOf("run", taskId, String(first?.epoch));
      const orphans = rootsOf(spans).filter(({ parentSpanId }) => parentSpanId !== CALLER_SPAN);
      assert.ok(orphans.length > 0 && orphans.every((span) => span.parentSpanId === deadRun));
      assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
      const calls = spans.filter(({ name }) => name === "execute_tool read");
      assert.deepEqual(
        requests.map(({ traceparent }) => traceparent).sort(),
        calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`).sort(),
      );
    });

    await t.step("a worker killed after a handoff leaves the subtask its parent", async () => {
      const traceId = "7".repeat(32);
      const taskId = await endpoint.create({ traceparent: TRACEPARENT.replace(TRACE_ID, traceId) });
      const handOff: ModelScript = (call) =>
        turnNumber(call) === 0 && call.context.task.agent_slug === "test-planner"
          ? { calls: [ask("create_subtask", { agent: "test-reader", input: "read" })] }
          : complete;
      const { worker: dead } = swarm.startWorker({
        ...base,
        model: handOff,
        // Dies with all spans that it has not exported yet.
        telemetry: workerTelemetry("http://127.0.0.1:9"),
        store: (store) => ({
          ...store,
          claim: (id, limit) => isSpawned ? never() : store.claim(id, limit),
          heartbeat: (id, leases) => isSpawned ? never() : store.heartbeat(id, leases),
          async spawn(lease, subtasks) {
            await store.spawn(lease, subtasks);
            isSpawned = true;
            return await never();
          },
        }),
        slots: 1,
      });
      let isSpawned = false;
      await waitFor(() => isSpawned);
      await swarm.endLease(taskId);

      const spans = await trace(taskId, traceId, { ...base, model: handOff });
      void dead.unload();

      assert.deepEqual(rootsOf(spans).map(({ name }) => name), ["POST /supaswarm-create-task"]);
      assert.equal(spans.filter(({ name }) => name === "invoke_agent test-reader").length, 1);
      assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
    });

    await t.step("a failed task reports it, and a retry continues its trace", async () => {
      const traceId = "2".repeat(32);
      const taskId = await endpoint.create({ traceparent: TRACEPARENT.replace(TRACE_ID, traceId) });
      const failing = { ...base, model: () => Promise.reject(new TypeError("on purpose")) };
      const [row] = await swarm.sql`
        update public.tasks set max_attempts = 1 where id = ${taskId}::uuid returning id`;
      assert.ok(row);
      await trace(taskId, traceId, failing, "failed");
      await swarm.sql`select private.reopen_task(${taskId}::uuid)`;

      const spans = await trace(taskId, traceId, base);

      assert.equal(rootsOf(spans).length, 1);
      const runs = spans.filter(({ name }) => name === "invoke_agent test-planner");
      assert.deepEqual(
        runs.map(({ isError, attributes }) => [isError, attributes["error.type"]]),
        [[true, "INTERNAL"], [false, undefined]],
      );
    });

    await t.step("a task without a request has one trace, named like its job", async () => {
      const taskId = await swarm.createTask();

      const spans = await trace(taskId, taskId.replaceAll("-", ""), base);

      assert.deepEqual(rootsOf(spans).map(({ name }) => name), ["invoke_agent test-planner"]);
      assert.equal(spans.length, 4);
    });

    await t.step("a request without a trace starts one", async () => {
      const taskId = await endpoint.create();
      const [row] = await swarm.sql`
        select traceparent from public.tasks where id = ${taskId}::uuid`;
      const traceId = String(row?.traceparent).split("-")[1] ?? "";

      const spans = await trace(taskId, traceId, base);

      const [root, ...others] = rootsOf(spans);
      assert.deepEqual([root?.name, root?.parentSpanId, others], [
        "POST /supaswarm-create-task",
        undefined,
        [],
      ]);
    });

    await t.step("an unsampled trace is passed on and not exported", async () => {
      const traceId = "3".repeat(32);
      requests.length = 0;
      const taskId = await endpoint.create({ traceparent: `00-${traceId}-${CALLER_SPAN}-00` });

      const spans = await trace(taskId, traceId, base);

      assert.deepEqual(spans, []);
      assert.match(requests[0]?.traceparent ?? "", new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    });

    await t.step("without an endpoint a tool gets the request's context unchanged", async () => {
      const plain = await openEndpoint(swarm, null);
      requests.length = 0;
      const taskId = await plain.create({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
      const worker = swarm.startWorker(base);

      await swarm.until(taskId, "completed");

      assert.deepEqual(requests.map(({ traceparent, tracestate }) => [traceparent, tracestate]), [
        [TRACEPARENT, TRACESTATE],
      ]);
      await worker.stop();
      await plain.close();
    });

    await t.step("a fork stays in the trace of its original task", async () => {
      const traceId = "4".repeat(32);
      const source = await endpoint.create({ traceparent: TRACEPARENT.replace(TRACE_ID, traceId) });
      await trace(source, traceId, base);
      const [row] = await swarm.sql`
        with service as (select set_config('request.jwt.claims', '{"role":"service_role"}', true))
        select private.fork_task(${source}::uuid, 2) as id from service`;

      const spans = await trace(String(row?.id), traceId, base);

      assert.equal(rootsOf(spans).length, 1);
      const jobs = spans.map(({ attributes }) => attributes["supaswarm.master_task_id"]);
      assert.deepEqual(new Set(jobs.filter((id) => id !== undefined)), new Set([source, row?.id]));
    });

    for (const [what, isHanging] of [["dead", false], ["hanging", true]] as const) {
      await t.step(`a ${what} collector neither fails nor delays a job`, async () => {
        const release = Promise.withResolvers<void>();
        const hanging = startCollector(() => release.promise.then(() => new Response("{}")));
        const endpoint = isHanging ? hanging.server.url : "http://127.0.0.1:9";
        const blocked = workerTelemetry(endpoint);
        const slowEndpoint = await openEndpoint(swarm, endpoint);
        const taskId = await slowEndpoint.create();
        // An export is in progress while the job runs.
        blocked.add(spanOf(taskId));
        void blocked.flush();
        if (isHanging) await waitFor(() => hanging.server.seen.length === 2);
        const worker = swarm.startWorker({ ...base, telemetry: blocked });
        await swarm.until(taskId, "completed");
        await worker.stop();

        release.resolve();
        await blocked.close();
        await slowEndpoint.close();
        await hanging.server.stop();
      });
    }
  } finally {
    await telemetry.close();
    await endpoint.close();
    await collector.server.stop();
    await swarm.close();
  }
});
