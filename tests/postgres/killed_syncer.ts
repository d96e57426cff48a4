/**
 * Started by sync_crash_test.ts: a worker of syncs in a separate process, which is killed
 * before, during or after one of its calls. Without the number of a call it runs until nothing is
 * left to do.
 */
import { createLifetime } from "../../shared/platform/isolate/lifetime.ts";
import { createSyncWorker } from "../../shared/servers/quoth/sync/sync_worker.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { LEASE_SECONDS, openSyncPorts } from "../servers/quoth/sync_fixture.ts";
import { aroundCalls } from "../servers/quoth/sync_killed_ports.ts";

const [url = "", githubUrl = "", workerId = "", lastCall = "0", moment = ""] = Deno.args;
const die = () => Deno.kill(Deno.pid, "SIGKILL");

let calls = 0;
const sql = createSql(url, { maxConnections: 3, applicationName: workerId });
const ports = aroundCalls(openSyncPorts(sql, githubUrl, () => {}), async (call) => {
  if (++calls !== Number(lastCall)) return await call();
  if (moment === "before") die();
  const answer = call();
  // By then a statement is running, or a transaction is about to commit.
  if (moment === "during") setTimeout(die, 1);
  return await answer.finally(die);
});

await createSyncWorker({
  id: workerId,
  ports,
  lifetime: createLifetime(3_600),
  leaseSeconds: LEASE_SECONDS,
  idleSeconds: 0.35,
  // Short, so that syncs change workers as well.
  turnCpuMs: 200,
}).run();
await sql.end({ timeout: 1 });
