import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ask, Swarm } from "../worker/swarm_fixture.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/agents.ts", import.meta.url));

Deno.test("a job keeps the revision with which it began, and an agent can be rolled back", async (t) => {
  const swarm = await Swarm.open();
  const { sql } = swarm;
  const setPrompt = (slug: string, prompt: string) =>
    sql`update public.agents set system_prompt = ${prompt} where slug = ${slug}`;
  const revisionsOf = async (slug: string) => {
    const rows = await sql`
      select revision, definition ->> 'prompt' as prompt, content_hash
      from public.operator_agent_revisions where agent_slug = ${slug} order by revision`;
    return rows.map(({ revision, prompt, content_hash: hash }) => ({ revision, prompt, hash }));
  };
  const newest = async (slug: string) => (await revisionsOf(slug)).at(-1)?.revision;
  try {
    await t.step("every change of an agent, or of what belongs to it, is a revision", async () => {
      const before = await revisionsOf("test-reader");
      await setPrompt("test-reader", "Read well.");
      await setPrompt("test-reader", "Read well.");
      await sql`
        insert into public.agent_handoffs (agent_id, target_agent_id)
        select agent.id, agent.id from public.agents as agent where agent.slug = 'test-reader'`;
      const after = await revisionsOf("test-reader");

      assert.equal(after.length, before.length + 2, "the repeated change is none");
      assert.equal(after.at(-1)?.prompt, "Read well.");
      await sql`
        delete from public.agent_handoffs using public.agents as agent
        where agent.id = agent_handoffs.agent_id and agent.slug = 'test-reader'`;
      assert.equal((await revisionsOf("test-reader")).at(-1)?.hash, after.at(-2)?.hash);
    });

    await t.step(
      "a running job and its subtasks keep theirs; the next job has the new one",
      async () => {
        await setPrompt("test-planner", "Plan as before.");
        await setPrompt("test-reader", "Read as before.");
        const pinned = {
          planner: await newest("test-planner"),
          reader: await newest("test-reader"),
        };
        const prompts: string[] = [];
        const changed = Promise.withResolvers<void>();
        const worker = swarm.startWorker({
          model: async ({ prompt: { system, messages } }) => {
            const first = String(system).split("\n")[0] ?? "";
            prompts.push(first);
            if (!first.startsWith("Plan") || messages.length > 1) return { text: "Done" };
            if (first === "Plan as before.") {
              await setPrompt("test-planner", "Plan anew.");
              await setPrompt("test-reader", "Read anew.");
              changed.resolve();
            }
            return { calls: [ask("create_subtask", { agent: "test-reader", input: "x" })] };
          },
        });
        const taskId = await swarm.createTask("First");
        await changed.promise;
        await swarm.until(taskId, "completed");
        const before = prompts.splice(0);
        const nextId = await swarm.createTask("Second");
        await swarm.until(nextId, "completed");
        await worker.stop();

        assert.deepEqual(before, ["Plan as before.", "Read as before.", "Plan as before."]);
        assert.deepEqual(prompts, ["Plan anew.", "Read anew.", "Plan anew."]);
        const tasks = await sql`
        select agent_slug, agent_revision from public.tasks
        where master_task_id = ${taskId}::uuid order by depth`;
        assert.deepEqual(tasks.map(({ agent_revision: revision }) => revision), [
          pinned.planner,
          pinned.reader,
        ]);
        const [event] = await sql`
        select payload from public.task_events
        where task_id = ${taskId}::uuid and type = 'task.created'`;
        assert.deepEqual(event?.payload, { agent: "test-planner", revision: pinned.planner });
        const usages = await sql`
        select distinct usage_events.agent_slug, usage_events.agent_revision from public.usage_events
        join public.tasks as task on task.id = usage_events.task_id
        where task.master_task_id = ${taskId}::uuid order by 1`;
        assert.deepEqual(usages.map((usage) => ({ ...usage })), [
          { agent_slug: "test-planner", agent_revision: pinned.planner },
          { agent_slug: "test-reader", agent_revision: pinned.reader },
        ]);
      },
    );

    await t.step("a rollback writes the revision before as the newest", async () => {
      const before = await revisionsOf("test-planner");
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", SCRIPT, "rollback", "test-planner", "--db", swarm.url, "--by", "ada"],
      }).output();

      const after = await revisionsOf("test-planner");
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      assert.match(new TextDecoder().decode(stdout), /its newest revision is \d+/);
      assert.equal(after.length, before.length + 1);
      assert.equal(after.at(-1)?.hash, before.at(-2)?.hash);
      const [row] = await sql`
        select agent.system_prompt, kept.author from public.agents as agent
        join public.agent_revisions as kept on kept.agent_id = agent.id and kept.revision = agent.revision
        where slug = 'test-planner'`;
      assert.deepEqual({ ...row }, { system_prompt: "Plan as before.", author: "ada" });
    });

    await t.step("an unknown revision or agent is refused with those that exist", async () => {
      const refusal = (slug: string, revision: number) =>
        sql`select private.rollback_agent(${slug}, ${revision}, null)`.then(
          () => "",
          (error) => `${error.detail} ${error.hint}`,
        );

      assert.match(
        await refusal("test-planner", 99),
        /REVISION_NOT_FOUND It has the revisions 1, 2/,
      );
      assert.match(await refusal("test-planer", 1), /AGENT_NOT_FOUND Did you mean "test-planner"/);
    });
  } finally {
    await swarm.close();
  }
});
