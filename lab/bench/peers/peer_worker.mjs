// A worker of another queue in a Node process of its own, with handlers that do nothing.
// Started by ../worker_process.ts with one JSON argument; writes what ../worker_report.ts reads.
import process from "node:process";

const { system, url, concurrency, poolSize, marks, enqueueCount = 0, desk } = JSON.parse(
  process.argv[2],
);
/** Only what is measured is loaded; Deno, which checks this file, has neither package. */
const load = (name) => import(name);
let count = 0;
let createdAtMs;

function handle() {
  const atMs = nowMs();
  count++;
  if (isMarked(count)) report({ count, at_ms: atMs, created_at_ms: createdAtMs });
}

function nowMs() {
  return performance.timeOrigin + performance.now();
}

function isMarked(place) {
  if (marks === null) return true;
  return typeof marks === "number" ? place % marks === 0 : marks.includes(place);
}

function report(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function openGraphile() {
  const { Logger, makeWorkerUtils, run } = await load("graphile-worker");
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  const create = (taskCount) =>
    utils.addJobs(Array.from({ length: taskCount }, () => ({ identifier: "noop", payload: {} })));
  const work = async () => {
    // While a job waits for a batch, nothing holds it up; a drain is faster with both.
    const isDrain = marks !== null;
    const runner = await run({
      preset: {
        worker: {
          connectionString: url,
          concurrentJobs: concurrency,
          maxPoolSize: poolSize,
          logger,
          ...isDrain ? { localQueue: { size: 200 }, completeJobBatchDelay: 0 } : {},
        },
      },
      noHandleSignals: true,
      taskList: { noop: () => handle() },
    });
    return () => Promise.all([runner.stop(), utils.release()]);
  };
  return { create, work };
}

async function openPgBoss() {
  const { PgBoss } = await load("pg-boss");
  const boss = new PgBoss({
    connectionString: url,
    max: poolSize,
    supervise: false,
    schedule: false,
    useListenNotify: true,
  });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("noop", { notify: true }).catch(() => {});
  const create = (taskCount) =>
    taskCount === 1
      ? boss.send("noop", {})
      : boss.insert("noop", Array.from({ length: taskCount }, () => ({ data: {} })));
  const work = async () => {
    // What a batch holds is in flight together: the same concurrency as elsewhere.
    const options = { batchSize: concurrency, burstWhenBatchFull: true };
    await boss.work("noop", options, (jobs) => {
      for (const _job of jobs) handle();
      return Promise.resolve();
    });
    return () => boss.stop({ graceful: false });
  };
  return { create, work };
}

async function openOpenWorkflow() {
  const { OpenWorkflow } = await load("openworkflow");
  const { BackendPostgres } = await load("openworkflow/postgres");
  const backend = await BackendPostgres.connect(url);
  const client = new OpenWorkflow({ backend });
  const noop = client.defineWorkflow(
    { name: "noop" },
    ({ step }) => step.run({ name: "model" }, () => handle()),
  );
  const work = async () => {
    const worker = client.newWorker({ concurrency });
    await worker.start();
    return async () => {
      await worker.stop();
      await backend.stop();
    };
  };
  return { create: (taskCount) => repeat(taskCount, () => noop.run({})), work };
}

async function openDbos() {
  const { DBOS } = await load("@dbos-inc/dbos-sdk");
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: url,
    systemDatabasePoolSize: poolSize,
    runAdminServer: false,
    logLevel: "error",
  });
  const model = DBOS.registerStep(() => Promise.resolve(handle()), { name: "model" });
  const noop = DBOS.registerWorkflow(() => model(), { name: "noop" });
  await DBOS.launch();
  const work = async () => {
    // A registered queue is worked on at once. Its own interval is a second.
    await DBOS.registerQueue("noop", {
      workerConcurrency: concurrency,
      minPollingIntervalMs: 10,
      onConflict: "always_update",
    });
    return () => DBOS.shutdown();
  };
  const create = (taskCount) =>
    repeat(taskCount, () => DBOS.startWorkflow(noop, { queueName: "noop" })());
  return { create, work };
}

/** Jobs of several turns: a step for each model call, and one for the tool call that it asks for. */
async function openAbsurd() {
  const { Absurd } = await load("absurd-sdk");
  const { Pool } = await load("pg");
  const db = new Pool({ connectionString: url, max: poolSize });
  const absurd = new Absurd({ db, queueName: desk.queue });
  await absurd.createQueue();
  absurd.registerTask({ name: "desk" }, async (_params, ctx) => {
    for (let turn = 1;; turn++) {
      const answer = await ctx.step("model", () => {
        handle();
        return Promise.resolve({ text: desk.answer, order: turn < desk.turns ? turn : null });
      });
      if (answer.order === null) return answer.text;
      await ctx.step("tool", async () => await (await fetch(`${desk.url}?order=${turn}`)).text());
    }
  });
  const create = (taskCount) => repeat(taskCount, () => absurd.spawn("desk", {}));
  const work = async () => {
    await absurd.startWorker({ concurrency });
    return () => absurd.close();
  };
  return { create, work };
}

/** For those that create one at a time: some side by side. */
async function repeat(times, act) {
  for (let left = times; left > 0; left -= poolSize) {
    await Promise.all(Array.from({ length: Math.min(left, poolSize) }, act));
  }
}

const OPEN = {
  graphile: openGraphile,
  pgboss: openPgBoss,
  openworkflow: openOpenWorkflow,
  dbos: openDbos,
  absurd: openAbsurd,
};

const { create, work } = await OPEN[system]();
if (enqueueCount > 0) await create(enqueueCount);
// A full queue is worked on while work() still starts, and its marks come after this line.
if (marks !== null) report({ ready: true });
const stop = await work();
if (marks === null) report({ ready: true });
// Each line asks for one more task; the end of them ends the worker.
process.stdin.on("data", async () => {
  createdAtMs = nowMs();
  await create(1);
});
process.stdin.on("end", async () => {
  await stop();
  process.exit(0);
});
