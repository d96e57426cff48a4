import assert from "node:assert/strict";
import { join } from "node:path";
import { type ScriptedAgent, scriptModel } from "../../scripts/models/scripted_agent.ts";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { complete } from "../e2e/script.ts";
import { untilTask } from "../e2e/task_view.ts";

const COMMAND = join(PROJECT_ROOT, "scripts/worker.ts");

interface WorkerLine {
  readonly process_id: string;
  readonly url: string;
}

/** `deno task worker` in a process of its own, with the settings of a platform. */
function runWorker(platform: Platform, args: readonly string[] = [], env = {}) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", COMMAND, "--json", "--port", "0", ...args],
    env: {
      SUPABASE_URL: platform.stack.apiUrl,
      SUPABASE_DB_URL: platform.stack.dbUrl,
      SUPABASE_SECRET_KEY: platform.stack.secretKey,
      SUPASWARM_ALLOW_LOOPBACK: "true",
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines: string[] = [];
  const reading = collect(child.stdout, lines);
  const errors: string[] = [];
  const ended = Promise.all([child.status, reading, collect(child.stderr, errors)])
    .then(([{ code }]) => ({ code, stderr: errors.join("") }));
  return {
    ended,
    kill: (signal: Deno.Signal) => child.kill(signal),
    async ready(): Promise<WorkerLine> {
      const line = await waitFor(
        () => lines.join("").split("\n").find((text) => text.includes('"ready":true')),
        {
          what: "the worker process",
        },
      );
      return JSON.parse(line);
    },
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has already ended.
      }
      await ended;
    },
  };
}

async function collect(stream: ReadableStream<Uint8Array>, lines: string[]): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) lines.push(text);
}

/** An agent whose model answers each request when the test lets it. */
function gatedAgent() {
  const asked: PromiseWithResolvers<void>[] = [];
  const agent: ScriptedAgent = scriptModel("thinker", async () => {
    const gate = Promise.withResolvers<void>();
    asked.push(gate);
    await gate.promise;
    return complete("thought");
  });
  const untilAsked = (count: number) =>
    waitFor(() => asked.length >= count, { what: `${count} model requests` });
  return { agent, asked, untilAsked };
}

async function openPlatform(agent: ScriptedAgent) {
  const cleanUp = new AsyncDisposableStack();
  const models = await startModelServer({ agents: [agent] });
  cleanUp.defer(() => models.stop());
  const platform = cleanUp.use(
    await bootPlatform({
      db: "native",
      env: { SUPASWARM_LEASE_SECONDS: "10", SUPASWARM_HEARTBEAT_SECONDS: "2" },
    }),
  );
  await addProvider(platform.sql, { name: "outside", baseUrl: `${models.url}/v1` });
  await addAgent(platform.sql, { slug: "thinker", provider: "outside" });
  const createTask = async () => {
    const answer = await sendRequest(platform.project, {
      body: { agent: "thinker", input: {} },
      headers: { apikey: platform.stack.secretKey },
    });
    return created(answer).task_id;
  };
  /** Workers of the edge function that have started. */
  const edgeWorkers = () =>
    platform.logLines.filter((line) =>
      line.includes("worker.started") && line.includes("supaswarm-worker")
    ).length;
  return { platform, createTask, edgeWorkers, [Symbol.asyncDispose]: () => cleanUp.disposeAsync() };
}

Deno.test("a worker process runs tasks, and no edge function is started for them", async () => {
  const { agent, asked, untilAsked } = gatedAgent();
  await using opened = await openPlatform(agent);
  const { platform, createTask, edgeWorkers } = opened;
  await using worker = runWorker(platform);
  const { url } = await worker.ready();
  const before = edgeWorkers();

  const taskIds = await Promise.all([createTask(), createTask(), createTask()]);
  await untilAsked(3);
  const during = await (await fetch(`${url}/metrics`)).text();
  for (const { resolve } of asked) resolve();
  for (const taskId of taskIds) await untilTask(platform.sql, taskId, "completed");

  assert.equal(edgeWorkers(), before);
  assert.match(during, /^supaswarm_free_slots\{function="supaswarm-worker"\} 97$/m);
  const after = await waitFor(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return text.includes('event="task.run_ended",end="completed"} 3') ? text : null;
  }, { what: "the count of ended runs" });
  for (const line of after.trim().split("\n")) {
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+)$/);
  }
  assert.equal((await fetch(`${url}/health`)).status, 200);
  assert.deepEqual(await (await fetch(`${url}/ready`)).json(), { ready: true });
  assert.equal((await fetch(`${url}/else`)).status, 404);
});

Deno.test("a port that is taken ends the command before it claims anything", async () => {
  const { agent } = gatedAgent();
  await using opened = await openPlatform(agent);
  const { platform } = opened;
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using worker = runWorker(platform, ["--port", String(taken.addr.port)]);

  const { code, stderr } = await worker.ended;

  assert.equal(code, 1);
  assert.match(stderr, /Cannot serve the status pages on 127\.0\.0\.1:\d+: .*\n/);
  const [{ count } = { count: -1 }] = await platform.sql<{ count: number }[]>`
    select count(*)::int as count from private.worker_processes`;
  assert.equal(count, 0);
});

Deno.test("SIGTERM lets a model call end within the grace period, and nothing is asked twice", async () => {
  const { agent, asked, untilAsked } = gatedAgent();
  await using opened = await openPlatform(agent);
  const { platform, createTask } = opened;
  await using worker = runWorker(platform, ["--grace", "600"]);
  const { url } = await worker.ready();
  const taskId = await createTask();
  await untilAsked(1);

  worker.kill("SIGTERM");
  const stopping = await waitFor(async () => {
    const response = await fetch(`${url}/ready`);
    const body = await response.json();
    return response.status === 503 ? body : null;
  }, { what: "a process that is not ready" });
  asked[0]?.resolve();
  const { code } = await worker.ended;
  await untilTask(platform.sql, taskId, "completed");

  assert.deepEqual(stopping, { ready: false, reason: "stopping" });
  assert.equal(code, 0);
  assert.equal(asked.length, 1);
  const [{ count } = { count: -1 }] = await platform.sql<{ count: number }[]>`
    select count(*)::int as count from private.worker_processes`;
  assert.equal(count, 0);
});

Deno.test("without a grace period SIGTERM returns a task, and the edge function continues it", async () => {
  const { agent, asked, untilAsked } = gatedAgent();
  await using opened = await openPlatform(agent);
  const { platform, createTask, edgeWorkers } = opened;
  await using worker = runWorker(platform, ["--grace", "0"]);
  await worker.ready();
  const taskId = await createTask();
  await untilAsked(1);

  worker.kill("SIGTERM");
  assert.equal((await worker.ended).code, 0);
  await untilAsked(2);
  asked[1]?.resolve();

  const { attempts } = await untilTask(platform.sql, taskId, "completed");
  assert.equal(attempts, 0);
  assert.ok(edgeWorkers() > 0);
});

Deno.test("a task of a process that dies is continued by the edge function", async () => {
  const { agent, asked, untilAsked } = gatedAgent();
  await using opened = await openPlatform(agent);
  const { platform, createTask } = opened;
  await using worker = runWorker(platform, [], {
    SUPASWARM_LEASE_SECONDS: "10",
    SUPASWARM_HEARTBEAT_SECONDS: "2",
  });
  await worker.ready();
  const taskId = await createTask();
  await untilAsked(1);

  worker.kill("SIGKILL");
  await worker.ended;
  await untilAsked(2);
  asked[1]?.resolve();

  await untilTask(platform.sql, taskId, "completed");
});

Deno.test("a full process leaves what waits to the edge function", async () => {
  const { agent, asked, untilAsked } = gatedAgent();
  await using opened = await openPlatform(agent);
  const { platform, createTask, edgeWorkers } = opened;
  await using worker = runWorker(platform, [], { SUPASWARM_WORKER_SLOTS: "1" });
  await worker.ready();
  const first = await createTask();
  await untilAsked(1);

  const second = await createTask();
  await untilAsked(2);
  for (const { resolve } of asked) resolve();

  await untilTask(platform.sql, first, "completed");
  await untilTask(platform.sql, second, "completed");
  assert.ok(edgeWorkers() > 0);
});
