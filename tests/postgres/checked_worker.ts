/**
 * Started by checked_crash_test.ts: a worker in a separate process that is killed right
 * after its first write: of steps, of the end, or of a file that was not stored before.
 */
import { join } from "node:path";
import type { TaskStore } from "../../shared/engine/worker/task_store.ts";
import { checkedJob } from "../engine/worker/checked_job.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";

const [url = "", filesFolder = ""] = Deno.args;
const swarm = Swarm.attach(url);
const worker = swarm.startWorker({
  ...checkedJob(async (what) => {
    await swarm.sql`insert into public.journal (what) values (${what})`;
  }),
  store: (store) => ({
    ...store,
    begin: (...intents) => andDie(store.begin(...intents)),
    record: (...results) => andDie(store.record(...results)),
    finish: (...end) => andDie(store.finish(...end)),
  } satisfies TaskStore),
  artifacts: {
    put: async ({ path, body }) => {
      if (typeof body === "string") throw new TypeError("no text was to be stored");
      if (await keep(path, body) === 1) die();
    },
  },
  slots: 1,
  // The next worker waits for its end.
  leaseSeconds: 1,
  heartbeatSeconds: 0.3,
});
// A worker that is never killed ends normally, which the test detects.
setTimeout(() => Deno.exit(1), 30_000);
await worker.ended;

async function andDie<T>(write: Promise<T>): Promise<T> {
  await write;
  return die();
}

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  throw new TypeError("unreachable");
}

/** Adds a file for each write to the path, and counts the writes. */
async function keep(path: string, body: Uint8Array): Promise<number> {
  const folder = join(filesFolder, path.replaceAll("/", "+"));
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeFile(join(folder, crypto.randomUUID()), body);
  return (await Array.fromAsync(Deno.readDir(folder))).length;
}
