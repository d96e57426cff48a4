import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import { type DemoUser, type Project, signUp } from "../../scripts/demo/user_client.ts";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";
import { areGone, descendants } from "../stack/process_tree.ts";
import { runStart } from "../stack/start_process.ts";
import { listen } from "./channel_listener.ts";
import { refused, sendRequest, userHeaders } from "./create_task_endpoint.ts";
import { addAgent, addProvider } from "./operator.ts";
import { call, complete, scriptTurns } from "./script.ts";
import { untilTask } from "./task_view.ts";

/** Asks a person, writes a file, completes: everything that an owner can see of a task. */
const CAREFUL = scriptTurns(
  "careful",
  call("request_human_review", { question: "Go on?" }),
  call("save_intermediate_data", { key: "report.md", value: "# Mine" }),
  complete({ report: "report.md" }),
);

const OWN_TABLES = ["tasks", "task_steps", "task_events", "human_reviews"];
const FILES = "supaswarm-data";

const createdSchema = z.object({
  task_id: z.string(),
  channels: z.object({ task: z.string(), master: z.string() }),
});

/** A stranger's knowledge of another user's task: everything except the permission. */
interface Scene {
  readonly project: Project;
  readonly sql: Sql;
  readonly owner: DemoUser;
  readonly stranger: DemoUser;
  readonly taskId: string;
  readonly topic: string;
}

Deno.test("an external client follows its own task to the end, and nobody else sees any of it", async (t) => {
  const models = await startModelServer({ agents: [CAREFUL] });
  await using start = runStart(["--ephemeral", "--json", "--port", "0"], { stdin: "null" });
  const ready = await start.ready;
  const children = await descendants(ready.pid);
  const sql = createSql(ready.db_url, { maxConnections: 1, applicationName: "e2e" });
  const project = { apiUrl: ready.api_url, publishableKey: ready.publishable_key };
  await addProvider(sql, { name: "outside", baseUrl: `${models.url}/v1` });
  await addAgent(sql, { slug: "careful", provider: "outside" });
  const [owner, stranger] = await Promise.all([signUp(project, "ada"), signUp(project, "eve")]);
  const { createClient } = await loadSupabaseJs();
  const nobody = createClient(project.apiUrl, project.publishableKey, {
    auth: { persistSession: false },
  });
  try {
    const { data } = await owner.client.functions.invoke("supaswarm-create-task", {
      body: { agent: "careful", input: "Write a report" },
    });
    const { task_id: taskId, channels } = createdSchema.parse(data);
    const ownTask = await listen(owner.client, channels.task);
    const ownJob = await listen(owner.client, channels.master);
    const scene = { project, sql, owner, stranger, taskId, topic: channels.master };

    await t.step("the owner reads the task, its steps, its trace and the question", async () => {
      assert.deepEqual([ownTask.joined, ownJob.joined], ["SUBSCRIBED", "SUBSCRIBED"]);
      await untilTask(sql, taskId, "needs_human_review");
      for (const table of OWN_TABLES) {
        const { data: rows, error } = await owner.client.from(table).select("*");
        assert.equal(error, null, table);
        assert.ok((rows ?? []).length > 0, table);
      }
    });

    const overheard = await listen(nobody, channels.master, { isPrivate: false });
    await t.step(
      "a stranger may not join, and a public channel of that name is silent",
      async () => {
        for (const topic of [channels.task, channels.master, `${channels.task}:x`, "tasks"]) {
          assert.equal((await listen(stranger.client, topic)).joined, "REFUSED", topic);
        }
        assert.equal(overheard.joined, "SUBSCRIBED");
        await overheard.send("task.completed");
      },
    );

    await t.step("a stranger reads no row, changes none and answers nothing", () => {
      return strangerIsKeptOut(scene);
    });

    await t.step("the owner answers and receives the private broadcasts to the end", async () => {
      const { data: status, error } = await owner.client.rpc("respond_to_review", {
        p_task_id: taskId,
        p_approved: true,
        p_response: {},
        p_comments: "Go on.",
      });
      assert.deepEqual([status, error], ["pending", null]);
      await Promise.all([ownTask.until("task.completed"), ownJob.until("task.completed")]);

      for (const { received } of [ownTask, ownJob]) {
        const types = received.map(({ event }) => event);
        const answered = types.indexOf("review.answered");
        assert.ok(answered >= 0 && answered < types.indexOf("data.saved"), types.join());
        assert.equal(types.at(-1), "task.completed");
        const seqs = received.flatMap(({ payload }) => payload.seq === null ? [] : [payload.seq]);
        assert.deepEqual(seqs, [...seqs].sort((a, b) => Number(a) - Number(b)));
        assert.ok(received.every(({ payload }) => payload.task_id === taskId));
      }
      const file = await owner.client.storage.from(FILES).download(await filePath(scene));
      assert.equal(await file.data?.text(), "# Mine");
      assert.deepEqual(overheard.received, []);
    });

    await t.step("a stranger cannot fetch the owner's file", () => strangerHasNoFiles(scene));

    await t.step("the publishable key by itself can do nothing", async () => {
      await overheard.leave();
      await publishableKeyDoesNothing(nobody, scene);
    });
  } finally {
    const clients = [owner.client, stranger.client, nobody];
    await Promise.all(clients.map((client) => client.realtime.disconnect()));
    await sql.end({ timeout: 1 });
    await models.stop();
  }

  await t.step("SIGTERM to the pid in the ready line leaves no process", async () => {
    Deno.kill(ready.pid, "SIGTERM");
    const { code } = await start.ended;

    assert.equal(code, 0);
    assert.ok(children.length > 0 && await areGone(children));
  });
});

async function filePath({ owner, taskId }: Scene): Promise<string> {
  const { data } = await owner.client.from("tasks").select("storage_paths").eq("id", taskId)
    .single();
  return z.object({ storage_paths: z.tuple([z.string()]) }).parse(data).storage_paths[0];
}

async function strangerIsKeptOut({ stranger, taskId, topic, project }: Scene): Promise<void> {
  const { client } = stranger;
  for (const table of OWN_TABLES) {
    const { data, error } = await client.from(table).select("*");
    assert.deepEqual([data, error], [[], null], table);
  }
  const write = await client.from("tasks").update({ status: "completed" }).eq("id", taskId);
  assert.equal(write.error?.code, "42501");
  const refusals = await Promise.all([
    client.rpc("cancel_task", { p_master_task_id: taskId }),
    client.rpc("respond_to_review", {
      p_task_id: taskId,
      p_approved: true,
      p_response: {},
      p_comments: "I am not Ada",
    }),
  ]);
  for (const { data, error, status } of refusals) {
    assert.deepEqual([data, error?.details, status], [null, "TASK_NOT_FOUND", 404]);
    assert.ok(error?.hint);
  }
  // Sent without the channel, like a client that has not joined.
  await sendRequest(project, {
    endpoint: "/realtime/v1/api/broadcast",
    headers: userHeaders(project, stranger),
    body: { messages: [{ topic, event: "task.completed", payload: {}, private: true }] },
  });
}

async function strangerHasNoFiles(scene: Scene): Promise<void> {
  const path = await filePath(scene);
  const files = scene.stranger.client.storage.from(FILES);

  assert.notEqual((await files.download(path)).error, null);
  assert.notEqual((await files.createSignedUrl(path, 60)).error, null);
  assert.deepEqual((await files.list(path.split("/").slice(0, -1).join("/"))).data, []);
  assert.notEqual((await files.upload(path, "# Yours", { upsert: true })).error, null);
  assert.notEqual((await files.upload("new.md", "# Yours")).error, null);
}

async function publishableKeyDoesNothing(nobody: SupabaseClient, scene: Scene): Promise<void> {
  const { project, sql, taskId, topic } = scene;
  for (const { name, column } of await publicTables(sql)) {
    const table = nobody.from(name);
    const read = await table.select("*").limit(1);
    assert.ok(read.error?.code === "42501" || read.data?.length === 0, `select on ${name}`);
    const writes = [
      table.insert({ [column]: null }),
      table.update({ [column]: null }).not(column, "is", null),
      table.delete().not(column, "is", null),
    ];
    for (const { error } of await Promise.all(writes)) {
      // No privilege, or a read-only view.
      assert.match(error?.code ?? "none", /^(42501|55000)$/, name);
    }
  }

  for (const { name, args } of await publicFunctions(sql)) {
    const { data, error } = await nobody.rpc(name, args);
    assert.deepEqual([data, error?.code], [null, "42501"], name);
  }

  for (const endpoint of ["supaswarm-create-task", "supaswarm-worker"]) {
    const answer = await sendRequest(project, {
      endpoint: `/functions/v1/${endpoint}`,
      headers: { apikey: project.publishableKey },
      body: { agent: "careful", input: "x" },
    });
    assert.deepEqual([answer.status, refused(answer).code], [401, "UNAUTHORIZED"], endpoint);
  }

  const files = nobody.storage.from(FILES);
  const path = await filePath(scene);
  assert.equal((await nobody.storage.listBuckets()).data?.length ?? 0, 0);
  assert.equal((await files.list(taskId)).data?.length ?? 0, 0);
  assert.notEqual((await files.download(path)).error, null);
  assert.notEqual((await files.upload("x.md", "x")).error, null);
  assert.notEqual((await nobody.auth.admin.listUsers()).error, null);
  assert.equal((await listen(nobody, topic)).joined, "REFUSED");
}

/** Every table and view of the API with a writable column. */
async function publicTables(sql: Sql) {
  return await sql<{ name: string; column: string }[]>`
    select relation.relname as name, min(attribute.attname) as column
    from pg_class as relation
    join pg_attribute as attribute on attribute.attrelid = relation.oid
      and attribute.attnum > 0 and attribute.attidentity = '' and attribute.attgenerated = ''
    where relation.relnamespace = 'public'::regnamespace
      and relation.relkind in ('r', 'v', 'm', 'p')
    group by 1
    order by 1`;
}

/** Every function of the API with null for each argument. */
async function publicFunctions(sql: Sql) {
  return await sql<{ name: string; args: Record<string, null> }[]>`
    select proname as name, coalesce((
      select jsonb_object_agg(argument, null) from unnest(proargnames[:pronargs]) as argument
    ), '{}') as args
    from pg_proc
    where pronamespace = 'public'::regnamespace
      and prorettype <> 'trigger'::regtype
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
    order by 1`;
}
