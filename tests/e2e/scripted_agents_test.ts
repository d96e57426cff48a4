import assert from "node:assert/strict";
import { join } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import { signUp } from "../../scripts/demo/user_client.ts";
import { testsSharing } from "../shared_fixture.ts";
import { created, sendRequest, userHeaders } from "./create_task_endpoint.ts";
import { grantToEveryone } from "./operator.ts";
import { bootPlatform, type Platform } from "./platform.ts";
import { copyProject } from "./project_copy.ts";
import { readSteps, untilTask } from "./task_view.ts";

/** A platform of a project with own files of agents. */
interface Project extends AsyncDisposable {
  readonly platform: Platform;
  /** Writes `agents/<slug>.script.yaml`. */
  writeScript(slug: string, text: string): Promise<void>;
  /** Registers an agent. @param provider By default the one of scripts. */
  addAgent(slug: string, provider?: string): Promise<void>;
  /** Creates a task and returns its id. */
  run(slug: string, input: unknown): Promise<string>;
  /** Creates a task that changes parts of the agent, as the playground does. */
  tryWith(slug: string, changes: Readonly<Record<string, unknown>>): Promise<string>;
}

const test = testsSharing(openProject);

async function openProject(): Promise<Project> {
  const copy = await copyProject({});
  const platform = await bootPlatform({ projectRoot: copy.root });
  const { sql, project } = platform;
  const headers = userHeaders(project, await signUp(project, "gardener"));
  await Deno.mkdir(join(copy.root, "agents"));
  return {
    platform,
    writeScript: (slug, text) =>
      Deno.writeTextFile(join(copy.root, "agents", `${slug}.script.yaml`), text),
    async addAgent(slug, provider = "demo") {
      await sql`
        insert into public.agents (name, slug, system_prompt, provider_id)
        values (${slug}, ${slug}, ${`You are ${slug}. `},
          (select id from public.llm_providers where name = ${provider}))`;
    },
    async run(agent, input) {
      return created(await sendRequest(project, { headers, body: { agent, input } })).task_id;
    },
    async tryWith(agent, changes) {
      const answer = await sendRequest(project, {
        headers: { apikey: platform.stack.secretKey },
        body: { agent, input: "Hello", agent_changes: changes },
      });
      return created(answer).task_id;
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]();
      await copy[Symbol.asyncDispose]();
    },
  };
}

test("a script calls a tool with the input and answers with its result", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("gardener");
  await sql`
    create function public.height_of(plant text) returns jsonb language sql stable
    set search_path = '' as $$ select jsonb_build_object('plant', plant, 'cm', length(plant) * 10) $$`;
  await sql`grant execute on function public.height_of(text) to authenticated`;
  const [tool] = await sql<{ id: string }[]>`
    insert into public.tools (name, slug, type, description, config)
    values ('heights', 'heights', 'supabase_rpc', 'Heights', '{"function": "public.height_of"}')
    returning id`;
  assert.ok(tool);
  await sql`
    insert into public.agent_tools (agent_id, tool_id)
    select id, ${tool.id}::uuid from public.agents where slug = 'gardener'`;
  await grantToEveryone(sql, [tool.id]);
  await project.writeScript(
    "gardener",
    `
- when: { result_of: heights/height_of }
  output: { of: "{{input.plant}}", cm: "{{message.cm}}" }
- when: { matches: '"plant": ?"(?<plant>\\w+)"' }
  say: I measure it.
  call:
    - tool: heights/height_of
      arguments: { plant: "{{plant}}" }
`,
  );

  const task = await untilTask(
    sql,
    await project.run("gardener", { plant: "fern" }),
    "completed",
  );

  assert.deepEqual(task.output, { of: "fern", cm: 40 });
  const calls = (await readSteps(sql, task.id)).filter(({ kind }) => kind === "tool");
  assert.deepEqual(calls.map(({ name, state }) => [name, state]), [["height_of", "done"]]);
});

test("a request that no rule answers fails and names the file and the last message", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("curt");
  await project.writeScript("curt", "- when: { contains: hello }\n  say: Hello\n");

  const { error } = await untilTask(sql, await project.run("curt", "Goodbye"), "failed");

  assert.equal(error?.code, "MODEL_SCRIPT_FAILED");
  assert.match(
    error?.message ?? "",
    /no rule of agents\/curt\.script\.yaml applies to the last message, the user's: "Goodbye"/,
  );
  assert.match(error?.hint ?? "", /Correct the script/);
});

test("a mistake in a script fails the task with file and line", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("sloppy");
  await project.writeScript("sloppy", "- when: { contains: hello }\n  sya: Hello\n");

  const { error } = await untilTask(sql, await project.run("sloppy", "hello"), "failed");

  assert.equal(error?.code, "MODEL_SCRIPT_FAILED");
  assert.match(error?.message ?? "", /agents\/sloppy\.script\.yaml:2: .*"sya"; did you mean "say"/);
});

test("an agent of the scripted provider without a script fails and names the file to write", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("mute");

  const { error } = await untilTask(sql, await project.run("mute", "hello"), "failed");

  assert.equal(error?.code, "MODEL_NOT_FOUND");
  assert.match(error?.message ?? "", /agent mute has no script\. Write agents\/mute\.script\.yaml/);
});

test("a script and a prompt that are saved during a run serve its next call", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("asker");
  await project.writeScript(
    "asker",
    '- call: [{ tool: request_human_review, arguments: { question: "{{input}}" } }]\n',
  );
  const taskId = await project.run("asker", "Go on?");
  await untilTask(sql, taskId, "needs_human_review");

  await sql`update public.agents set system_prompt = 'You are new.' where slug = 'asker'`;
  await project.writeScript(
    "asker",
    "- when: { result_of: request_human_review }\n  output: '{{message.comments}}'\n",
  );
  await sql`
    select public.respond_to_review(p_task_id => ${taskId}, p_approved => true, p_comments => 'Yes')`;

  assert.equal((await untilTask(sql, taskId, "completed")).output, "Yes");
});

const usageSchema = z.looseObject({
  model: z.string(),
  passed_over: z.array(z.object({ provider: z.string(), code: z.string() }).loose()),
});

test("the script of an agent answers while its provider has no key", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("keyless", "openai");
  await project.writeScript("keyless", "- say: From the script\n");

  const taskId = await project.run("keyless", "Hello");

  assert.equal((await untilTask(sql, taskId, "completed")).output, "From the script");
  const [step] = await sql`
    select usage from public.task_steps where task_id = ${taskId} and kind = 'model'`;
  const { model, passed_over: [passed] } = usageSchema.parse(step?.usage);
  assert.equal(model, "demo");
  assert.deepEqual([passed?.provider, passed?.code], ["openai", "MODEL_KEY_MISSING"]);
});

test("an agent without a key fails for the key if it has no script, else for its script", async (project) => {
  const { sql } = project.platform;
  await project.addAgent("unscripted", "openai");
  await project.addAgent("unmatched", "openai");
  await project.writeScript("unmatched", "- when: { contains: hello }\n  say: Hello\n");

  const [unscripted, unmatched] = await Promise.all(
    ["unscripted", "unmatched"].map(async (slug) =>
      (await untilTask(sql, await project.run(slug, "Goodbye"), "failed")).error
    ),
  );

  assert.equal(unscripted?.code, "MODEL_KEY_MISSING");
  assert.match(unscripted?.hint ?? "", /OPENAI_API_KEY .*agents\/<slug>\.script\.yaml/);
  assert.equal(unmatched?.code, "MODEL_SCRIPT_FAILED");
});

test("a try with another prompt gets the answer of the agent's script", async (project) => {
  const { sql } = project.platform;
  for (const provider of ["demo", "openai"]) {
    const slug = `tried-${provider}`;
    await project.addAgent(slug, provider);
    await project.writeScript(slug, `- say: The script of ${slug}\n`);

    // The last one is the prompt of another agent, which has a script of its own.
    for (const prompt of ["Be brief.", "You are tried-demo. "]) {
      const taskId = await project.tryWith(slug, { prompt });
      assert.equal((await untilTask(sql, taskId, "completed")).output, `The script of ${slug}`);
    }
  }
});

test("agents with the same prompt have scripts of their own", async (project) => {
  const { sql } = project.platform;
  for (const slug of ["twin-a", "twin-b"]) {
    await project.addAgent(slug);
    await project.writeScript(slug, `- say: I am ${slug}\n`);
  }
  await sql`update public.agents set system_prompt = 'You are twins.' where slug like 'twin-%'`;

  for (const slug of ["twin-a", "twin-b"]) {
    const taskId = await project.run(slug, "Who?");
    assert.equal((await untilTask(sql, taskId, "completed")).output, `I am ${slug}`);
  }
});
