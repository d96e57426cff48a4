import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import {
  checkedJob,
  PAGES,
  PICTURE,
  prepareChecks,
  shapeOf,
} from "../engine/worker/checked_job.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { startMigratedServer } from "./native_server.ts";
import { endLeases, printFigures } from "./race_fixture.ts";

const WORKER = new URL("checked_worker.ts", import.meta.url).pathname;
/** The maximum number of workers: each of them makes at least one write. */
const MOST_WORKERS = 40;

Deno.test("a checked, summarized and continued job ends correctly although its worker is killed after each write", async () => {
  await using server = await startMigratedServer();
  await server.sql`
    create table public.journal (id bigint generated always as identity, what text not null)`;
  const swarm = Swarm.attach(server.cluster.url);
  const filesFolder = await Deno.makeTempDir({ prefix: "supaswarm_files_" });
  try {
    await swarm.addAgents();
    await prepareChecks(swarm.sql);
    const expected = await runUndisturbed(swarm);

    const taskId = await swarm.createTask("Read all");
    const firstKills = await killUntilCompleted(swarm, taskId, filesFolder);
    await swarm.sql`select public.continue_task(${taskId}::uuid, '"And now?"')`;
    const secondKills = await killUntilCompleted(swarm, taskId, filesFolder);

    const task = await swarm.task(taskId);
    assert.deepEqual([task.output, task.attempts], [`I know ${PAGES} pages`, 0]);
    assert.deepEqual(await shapeOf(swarm, taskId), expected);
    const calls = await swarm.sql<{ what: string; count: number }[]>`
      select what, count(*)::int from public.journal group by what`;
    assert.deepEqual(calls.filter(({ count }) => count > 2).map(({ what }) => what), []);
    const path = `${taskId}/${taskId}/_step-${await pictureStep(swarm, taskId)}-1.png`;
    assert.deepEqual(task.storage_paths, [path]);
    assert.deepEqual(await storedFiles(filesFolder), [path.replaceAll("/", "+")]);
    const events = await swarm.events(taskId);
    assert.equal(events.filter((type) => type === "task.completed").length, 2);
    assert.ok(firstKills >= 12 && secondKills >= 3, `${firstKills} and ${secondKills} kills`);
    printFigures({ kills: firstKills + secondKills });
  } finally {
    await swarm.close();
    await Deno.remove(filesFolder, { recursive: true });
  }
});

/** The steps of a job whose worker survives. */
async function runUndisturbed(swarm: Swarm) {
  const worker = swarm.startWorker(checkedJob(() => {}));
  const taskId = await swarm.createTask("Read all");
  await swarm.until(taskId, "completed");
  await swarm.sql`select public.continue_task(${taskId}::uuid, '"And now?"')`;
  await swarm.until(taskId, "completed");
  await worker.stop();
  return await shapeOf(swarm, taskId);
}

async function killUntilCompleted(
  swarm: Swarm,
  taskId: string,
  filesFolder: string,
): Promise<number> {
  for (let kills = 0; kills < MOST_WORKERS; kills++) {
    if ((await swarm.task(taskId)).status === "completed") return kills;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", WORKER, swarm.url, filesFolder],
      cwd: PROJECT_ROOT,
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    assert.equal((await process.status).signal, "SIGKILL");
    await endLeases(swarm.sql);
  }
  throw new Error(`The task is not completed: ${JSON.stringify(await swarm.task(taskId))}`);
}

/** The step whose result is the picture. */
async function pictureStep(swarm: Swarm, taskId: string): Promise<number> {
  const [row] = await swarm.sql<{ seq: number }[]>`
    select seq from public.task_steps
    where task_id = ${taskId}::uuid and output ? 'files'`;
  assert.ok(row);
  return row.seq;
}

/** The paths of stored files; each version of a file is a complete file. */
async function storedFiles(filesFolder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name: path } of Deno.readDir(filesFolder)) {
    paths.push(path);
    for await (const { name } of Deno.readDir(join(filesFolder, path))) {
      const stored = await Deno.readFile(join(filesFolder, path, name));
      assert.equal(String.fromCharCode(...stored), PICTURE);
    }
  }
  return paths;
}
