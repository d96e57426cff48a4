// A worker of another queue in a Node process of its own, with handlers that do nothing.
// Started by ../worker_process.ts with one JSON argument; writes what ../worker_report.ts reads.
import process from "node:process";

const { system, url, concurrency, poolSize, marks, enqueueCount = 0 } = JSON.parse(process.argv[2]);
/** Only what is measured is loaded; Deno, which checks this file, has neither package. */
const load = (name) => import(name);
let count = 0;

function handle() {
  const atMs = performance.timeOrigin + performance.now();
  count++;
  if (marks === null || marks.includes(count)) report({ count, at_ms: atMs });
}

function report(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function startGraphile() {
  const { Logger, makeWorkerUtils, run } = await load("graphile-worker");
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  if (enqueueCount > 0) {
    const job = { identifier: "noop", payload: {} };
    await utils.addJobs(Array.from({ length: enqueueCount }, () => job));
  }
  await utils.release();
  const runner = await run({
    connectionString: url,
    concurrency,
    maxPoolSize: poolSize,
    noHandleSignals: true,
    logger,
    taskList: { noop: () => handle() },
  });
  return () => runner.stop();
}

async function startPgBoss() {
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
  if (enqueueCount > 0) {
    await boss.insert("noop", Array.from({ length: enqueueCount }, () => ({ data: {} })));
  }
  // What a batch holds is in flight together: the same concurrency as elsewhere.
  const options = { batchSize: concurrency, burstWhenBatchFull: true };
  await boss.work("noop", options, (jobs) => {
    for (const _job of jobs) handle();
    return Promise.resolve();
  });
  return () => boss.stop({ graceful: false });
}

const stop = await (system === "graphile" ? startGraphile() : startPgBoss());
report({ ready: true });
process.stdin.on("end", async () => {
  await stop();
  process.exit(0);
}).resume();
