import assert from "node:assert/strict";
import { createSwarm, type JobEvent, SwarmClientError } from "../../client/mod.ts";
import type { SupabaseLike } from "../../client/supabase.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { loadSupabaseJs } from "../deps.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent, addProvider } from "./operator.ts";
import { call, complete, scriptTurns } from "./script.ts";
import { cutAnswerOnce } from "./cut_answer_model.ts";
import { readEvents, untilTask } from "./task_view.ts";
import { untilJoined } from "./until_joined.ts";

const ASKER = scriptTurns(
  "client-asker",
  call("request_human_review", { question: "Publish?", options: ["now", "later"] }),
  call("save_intermediate_data", { key: "note", value: "kept" }),
  complete({ published: true }),
);
const LONG_WRITER = scriptTurns("client-long", complete("long ".repeat(10_000)));

Deno.test("the client follows, answers and steers jobs over the user's own supabase-js", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, stack, project } = platform;
  stack.models.addAgent(ASKER);
  stack.models.addAgent(LONG_WRITER);
  await addAgent(sql, { slug: "client-asker" });
  await addAgent(sql, { slug: "client-long" });
  let cutJob = Promise.withResolvers<string>();
  await using cutModel = cutAnswerOnce({
    first: "The cut answer is",
    second: "The whole answer.",
    begins: async () => await untilJoined(supabase, await cutJob.promise),
  });
  await addProvider(sql, { name: "client-cut", baseUrl: cutModel.baseUrl });
  await addAgent(sql, { slug: "client-cut", provider: "client-cut" });
  const { user } = await platform.addUser("client");
  const { client: supabase } = user;
  const swarm = createSwarm(supabase);
  try {
    await t.step("a job: its events, its review, its result", async () => {
      const job = await swarm.run("client-asker", { topic: "webhooks" });
      const events: JobEvent[] = [];
      for await (const event of job) {
        events.push(event);
        if (event.type === "review.requested") {
          assert.deepEqual((await swarm.reviews.list()).map(({ task_id }) => task_id), [job.id]);
          await job.respond(event, { approved: true, choice: "now", comments: "Good." });
        }
      }

      assert.deepEqual(await job.result(), { published: true });
      assert.equal(await job.status(), "completed");
      assert.deepEqual(
        events.map(({ type }) => type),
        (await readEvents(sql, job.id)).map(({ type }) => type),
      );
      const answered = events.find(({ type }) => type === "review.answered");
      assert.deepEqual(answered?.data, {
        step_seq: 2,
        approved: true,
        response: { choice: "now" },
        comments: "Good.",
      });
      const [listed] = await swarm.jobs.list({ agent: "client-asker", limit: 1 });
      assert.equal(listed?.id, job.id);
    });

    await t.step(
      "without Realtime, on a network that loses answers, no event is lost",
      async () => {
        const { createClient } = await loadSupabaseJs();
        const random = seededRandom(3);
        const lossy = createClient(project.apiUrl, project.publishableKey, {
          auth: { persistSession: false, autoRefreshToken: false },
          global: {
            headers: { authorization: `Bearer ${user.accessToken}` },
            fetch: async (...request) => {
              const answer = await fetch(...request);
              if (random() > 0.4) return answer;
              await answer.body?.cancel();
              throw new TypeError("The test cut this connection");
            },
          },
        });
        const job = await createSwarm(withoutRealtime(lossy)).run("client-asker", "Go");
        const other = swarm.job(job.id);
        const types: string[] = [];
        for await (const event of job) {
          types.push(event.type);
          if (event.type === "review.requested") {
            await other.respond(job.id, { approved: true, choice: "later" });
          }
        }

        assert.deepEqual(types, (await readEvents(sql, job.id)).map(({ type }) => type));
        assert.deepEqual(await job.result(), { published: true });
        const [row] = await sql`
        select count(*)::int as count from public.tasks as task
        join public.tasks as mine on mine.created_by = task.created_by
        where mine.id = ${job.id}::uuid and task.agent_slug = 'client-asker'`;
        assert.equal(row?.count, 2, "a lost answer of run() starts no second job");
      },
    );

    await t.step("another handle continues at the cursor, within a page too", async () => {
      const job = await swarm.run("client-asker", "Go");
      await untilTask(sql, job.id, "needs_human_review");
      const first = await take(job, 2);
      const reloaded = swarm.job(job.id, { after: job.cursor });
      await reloaded.respond(job.id, { approved: false, choice: "later" });
      const rest = await take(reloaded, Infinity);

      const ids = [...first, ...rest].map(({ id }) => id);
      const stored = await sql`
        select id::int from public.task_events where task_id = ${job.id}::uuid order by id`;
      assert.deepEqual(ids, stored.map(({ id }) => id));
      assert.deepEqual(await take(swarm.job(job.id, { after: reloaded.cursor }), 1), []);
    });

    await t.step("detach ends the loops, and cancel ends the job", async () => {
      const job = await swarm.run("client-asker", "Go");
      const result = job.result();
      const refused = assert.rejects(result, { code: "DETACHED" });
      for await (const { type } of job) if (type === "task.parked") job.detach();
      await refused;
      assert.equal(await job.status(), "needs_human_review");

      assert.equal(await job.cancel(), 1);
      const last = (await take(job, Infinity)).at(-1);
      assert.equal(last?.type, "task.cancelled");
      await assert.rejects(job.result(), (error) => error instanceof SwarmClientError);
      assert.equal(await job.status(), "cancelled");
    });

    await t.step("an ended job continues, is retried and is forked", async () => {
      const job = await swarm.run("client-asker", "Go");
      await untilTask(sql, job.id, "needs_human_review");
      await job.cancel();
      await take(job, Infinity);
      await job.retry();
      await untilTask(sql, job.id, "needs_human_review");
      await job.respond(job.id, { approved: true, choice: "now" });
      assert.deepEqual(await job.result(), { published: true });

      const fork = await job.fork({ fromStep: 3 });
      assert.notEqual(fork.id, job.id);
      assert.deepEqual(await fork.result(), { published: true });
      await take(job, Infinity);
      await job.continue("Again");
      const events = await take(job, Infinity);
      assert.deepEqual([events.at(0)?.type, events.at(-1)?.type], [
        "task.resumed",
        "task.completed",
      ]);
    });

    await t.step("a result that is stored as a file is returned whole", async () => {
      const job = await swarm.run("client-long", "Go");
      assert.equal(await job.result(), "long ".repeat(10_000));
    });

    await t.step(
      "the text of a call that was cut is replaced by the text of the next",
      async () => {
        let shown = "";
        const states: string[] = [];
        // An isolate near its CPU limit asks for the whole answer instead.
        for (let attempt = 0; attempt < 5 && !cutModel.hasStreamed; attempt++) {
          cutJob = Promise.withResolvers();
          const job = await swarm.run("client-cut", "Go", { watch: true });
          cutJob.resolve(job.id);
          for await (const { text, restarted } of job.text) {
            shown = text;
            states.push(restarted ? "restarted" : "grew");
            if (cutModel.hasStreamed) cutModel.cut();
          }
          assert.equal(await job.result(), "The whole answer.");
        }

        assert.equal(shown, "The whole answer.");
        assert.ok(states.includes("restarted"), states.join());
      },
    );

    await t.step("errors have the platform's code, message, hint and request id", async () => {
      const error = await errorOf(swarm.run("client-askr", "Go"));
      assert.deepEqual([error.code, error.status], ["AGENT_NOT_FOUND", 404]);
      assert.match(`${error.message} ${error.hint}`, /client-askr.*client-asker/s);
      assert.ok(error.requestId !== null && error.requestId.length > 0);

      const unknown = swarm.job(crypto.randomUUID());
      assert.equal((await errorOf(take(unknown, 1))).code, "TASK_NOT_FOUND");
      assert.equal((await errorOf(unknown.result())).code, "TASK_NOT_FOUND");
      assert.equal((await errorOf(unknown.cancel())).code, "TASK_NOT_FOUND");
    });

    await t.step("a signal ends a request, a loop and a wait, and leaves the job", async () => {
      const reason = new Error("The page was closed");
      const stop = new AbortController();
      const job = await swarm.run("client-asker", "Go", { signal: stop.signal });
      const waits = [job.result(), take(job, Infinity), take(job.events(), Infinity)];
      const refused = waits.map((wait) => assert.rejects(wait, reason));
      await untilTask(sql, job.id, "needs_human_review");
      stop.abort(reason);
      await Promise.all(refused);
      await assert.rejects(swarm.run("client-asker", "Go", { signal: stop.signal }), reason);
      await assert.rejects(job.cancel({ signal: stop.signal }), reason);
      assert.equal(await swarm.job(job.id).status(), "needs_human_review");
    });

    await t.step("tools are listed, called and graded", async () => {
      const servers = await swarm.tools.list();
      assert.ok(servers.some(({ slug }) => slug === "swarm"));
      const result = await swarm.tools.call({ server: "swarm", name: "list_agents" });
      assert.notEqual(result.isError, true);
      const streamed = await swarm.tools.call({ server: "swarm", name: "list_agents" }, {}, {
        onText: () => {},
      });
      assert.deepEqual(streamed.structuredContent, result.structuredContent);
      await swarm.feedback(result, { rating: "up" });
      const grade = await swarm.feedback(result, { score: 5 });
      assert.deepEqual([grade.rating, grade.rating_score, grade.comment], ["up", 5, null]);
      const error = await errorOf(swarm.tools.call({ server: "swarm", name: "list_agent" }));
      assert.equal(error.status, 404);
      const nowhere = await errorOf(swarm.documents.search("no-such-project", "webhooks"));
      assert.match(nowhere.message, /no-such-project/);
    });

    await t.step("one server is described with its tools' schemas and its connection", async () => {
      const { server, tools, connection } = await swarm.tools.describe("swarm");
      const tool = tools.find(({ name }) => name === "get_task");

      assert.equal(server.slug, "swarm");
      assert.equal((tool?.inputSchema as { type?: string }).type, "object");
      assert.notEqual(connection.tools_listed_at, null);
      assert.equal((await errorOf(swarm.tools.describe("swarms"))).code, "TOOL_NOT_FOUND");
    });

    await t.step("a connection of an account is refused with a reason", async () => {
      const unavailable = await errorOf(swarm.accounts.connect("swarm"));
      const invalid = await errorOf(swarm.accounts.confirm("made up"));
      const missing = await errorOf(swarm.accounts.disconnect("nobody"));

      assert.deepEqual([unavailable.code, invalid.code, missing.code], [
        "OAUTH_UNAVAILABLE",
        "AUTHORIZATION_INVALID",
        "AUTHORIZATION_INVALID",
      ]);
    });

    await t.step("jobs are counted, and changes of any are heard", async () => {
      const heard = new Set<string>();
      const joined = Promise.withResolvers<void>();
      const leave = swarm.jobs.listen({
        onMessage: ({ payload }) => heard.add(payload.task_id),
        onJoined: (isJoined) => isJoined && joined.resolve(),
      });
      await joined.promise;
      const before = await swarm.jobs.count({ agent: "client-asker" });
      const job = await swarm.run("client-asker", "Go");
      await waitFor(() => heard.has(job.id), { what: "a message about the job" });
      leave();
      await job.cancel();
      // A task that runs ends at its next checkpoint.
      await waitFor(async () => {
        const { cancelled = 0 } = await swarm.jobs.count({ agent: "client-asker" });
        return cancelled === (before.cancelled ?? 0) + 1;
      }, { what: "one more cancelled job" });
    });

    await t.step("an uploaded file is in the user's own folder", async () => {
      const path = await swarm.files.upload(new Blob(["# Mine"]), { name: "mine.md" });
      assert.match(path, /^[0-9a-f-]{36}\/mine\.md$/);
      assert.equal(await (await swarm.files.download(path)).text(), "# Mine");
      assert.equal((await errorOf(swarm.files.download(`${path}x`))).status >= 400, true);
    });

    await waitFor(
      () => supabase.getChannels().length === 0 && !supabase.realtime.isConnected(),
      { what: "the end of the connection of the last channel" },
    );
  } finally {
    await supabase.realtime.disconnect();
  }
});

async function take(events: AsyncIterable<JobEvent>, count: number): Promise<JobEvent[]> {
  const taken: JobEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

async function errorOf(work: Promise<unknown>): Promise<SwarmClientError> {
  const error = await work.then(() => null, (error: unknown) => error);
  assert.ok(error instanceof SwarmClientError, String(error));
  return error;
}

/** The same client, whose channels never join. */
function withoutRealtime(supabase: SupabaseLike): SupabaseLike {
  const channel: object = { on: () => channel, subscribe: () => channel };
  return new Proxy(supabase, {
    get(client, name) {
      if (name === "channel") return () => channel;
      if (name === "removeChannel") return () => Promise.resolve("ok");
      const value: unknown = Reflect.get(client, name);
      return typeof value === "function" ? value.bind(client) : value;
    },
  });
}
