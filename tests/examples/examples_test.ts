import assert from "node:assert/strict";
import { join } from "node:path";
import { createSwarm } from "../../client/mod.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { untilTask } from "../e2e/task_view.ts";
import { addAgent } from "../e2e/operator.ts";
import { scriptTurns } from "../e2e/script.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { freePorts } from "../stack/free_ports.ts";
import { loadReact, loadSupabaseJs, loadVue } from "../deps.ts";
import { openPage } from "../hooks/open_page.ts";
import { untilShown, write } from "../hooks/use_page.ts";
import { importPage } from "./import_page.ts";
import { copyExample, runProgram, versionOf } from "./example_project.ts";

const EXAMPLES = join(PROJECT_ROOT, "examples");
const MAX_CODE_LINES = 60;
const MAX_README_LINES = 40;
const OUTPUT = /Our API has webhooks/;
const TOPIC = "our API has webhooks";

/** A user who can sign in with a password, and the environment of the examples. */
async function openExamples() {
  const platform = await sharedPlatform();
  const { project } = platform;
  const { createClient } = await loadSupabaseJs();
  const supabase = createClient(project.apiUrl, project.publishableKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
  const [email, password] = [`${crypto.randomUUID()}@example.com`, crypto.randomUUID()];
  const { data, error } = await supabase.auth.signUp({ email, password });
  if (error !== null) throw error;
  return {
    platform,
    supabase,
    accessToken: data.session?.access_token ?? "",
    env: {
      SUPABASE_URL: project.apiUrl,
      SUPABASE_PUBLISHABLE_KEY: project.publishableKey,
      USER_EMAIL: email,
      USER_PASSWORD: password,
    },
  };
}

/** Node 20 has the WebSocket of `supabase-js` only with a flag. */
async function nodeFlags(): Promise<readonly string[] | null> {
  const version = await versionOf("node");
  const major = Number(/^v(\d+)/.exec(version ?? "")?.[1] ?? 0);
  if (major < 20) return null;
  return major < 22 ? ["--experimental-websocket"] : [];
}

Deno.test("each example has at most 60 lines of code, and a README of one screen", async () => {
  for await (const { name, isDirectory } of Deno.readDir(EXAMPLES)) {
    if (!isDirectory) continue;
    const readme = await Deno.readTextFile(join(EXAMPLES, name, "README.md"));
    assert.ok(readme.split("\n").length <= MAX_README_LINES, `${name}/README.md`);
    const lines = await codeLines(join(EXAMPLES, name));
    assert.ok(lines > 0 && lines <= MAX_CODE_LINES, `${name} has ${lines} lines of code`);
  }
});

Deno.test("the Node script asks on the terminal and prints the result", async (t) => {
  const flags = await nodeFlags();
  if (flags === null) {
    await t.step({ name: "skipped: Node 20 or newer is not installed", ignore: true, fn() {} });
    return;
  }
  const { env } = await openExamples();
  await using example = await copyExample("node-script");
  const printed = await runProgram("node", [...flags, "announce.mjs", TOPIC], {
    cwd: example.folder,
    env,
    input: "yes\n",
  });

  assert.match(printed, /Publish this announcement\? \[y\/n\]/);
  assert.match(printed.trim().split("\n").at(-1) ?? "", OUTPUT);
  const id = /Job ([0-9a-f-]{36})/.exec(printed)?.[1] ?? "";
  const again = await runProgram("node", [...flags, "announce.mjs", "--job", id], {
    cwd: example.folder,
    env,
    input: "yes\n",
  });
  assert.match(again.trim().split("\n").at(-1) ?? "", OUTPUT);
});

Deno.test("the Python script follows a job over plain HTTP", async (t) => {
  if (await versionOf("python3") === null) {
    await t.step({ name: "skipped: Python 3 is not installed", ignore: true, fn() {} });
    return;
  }
  const { env } = await openExamples();
  const printed = await runProgram("python3", ["announce.py", TOPIC], {
    cwd: join(EXAMPLES, "python-script"),
    env,
  });

  assert.match(printed, OUTPUT);
});

Deno.test("the report is scheduled once, runs, and is printed", async (t) => {
  const flags = await nodeFlags();
  if (flags === null) {
    await t.step({ name: "skipped: Node 20 or newer is not installed", ignore: true, fn() {} });
    return;
  }
  const { env, platform: { sql, stack }, supabase } = await openExamples();
  stack.models.addAgent(scriptTurns("example-reporter", { text: "Three jobs, none failed." }));
  await addAgent(sql, { slug: "example-reporter" });
  await using example = await copyExample("cron-report");
  const report = () =>
    runProgram("node", [...flags, "schedule_report.mjs"], {
      cwd: example.folder,
      env: { ...env, REPORT_AGENT: "example-reporter" },
    });
  assert.match(await report(), /^The next report starts at \d{4}-/);

  const { data: schedules } = await supabase.from("schedules").select("id");
  assert.equal(schedules?.length, 1);
  await sql`
    update public.schedules set next_run_at = now() - interval '1 minute'
    where id = ${schedules?.[0]?.id}::uuid`;
  await sql`select private.run_due_schedules()`;
  const [job] = await createSwarm(supabase).jobs.list({ metadata: { report: "morning" } });
  await untilTask(sql, job?.id ?? "", "completed");
  assert.match(await report(), /Three jobs, none failed\./);
  assert.equal((await supabase.from("schedules").select("id")).data?.length, 1);
});

Deno.test("the agent of the report has the tools that its SQL names", async () => {
  const { platform: { sql } } = await openExamples();
  const text = await Deno.readTextFile(join(EXAMPLES, "cron-report/reporter.sql"));
  const rollback = new Error("Undo");
  await sql.begin(async (transaction) => {
    await transaction.unsafe(text);
    const [tool] = await transaction`
      select to_json(agent_tools.allowed_tools) as allowed_tools from public.agent_tools
      join public.agents on agents.id = agent_tools.agent_id where agents.slug = 'reporter'`;
    assert.deepEqual(tool?.allowed_tools, ["list_tasks", "get_task"]);
    throw rollback;
  }).catch((error) => assert.equal(error, rollback));
});

Deno.test("the Next.js chat starts a job, approves its draft and shows the result", async () => {
  const { env } = await openExamples();
  await using page = await openPage();
  const { root } = page;
  const module = await importPage(join(EXAMPLES, "nextjs-chat/app/page.tsx"), {
    NEXT_PUBLIC_SUPABASE_URL: env.SUPABASE_URL,
    NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY: env.SUPABASE_PUBLISHABLE_KEY,
  });
  const { createElement, createRoot, StrictMode } = await loadReact();
  const reactRoot = createRoot(root as never);
  reactRoot.render(createElement(StrictMode, null, createElement(module.default as never)));
  await untilShown(root, "Send");
  write(root, "input", TOPIC);
  root.querySelector("form")?.requestSubmit();
  await untilShown(root, "Publish this announcement?");
  root.querySelector("fieldset button")?.dispatchEvent(page.clickEvent());
  await untilShown(root, OUTPUT);
  reactRoot.unmount();
});

Deno.test("the Next.js chat compiles with the types of React", async () => {
  const config = ["--sloppy-imports", "--config", "registry/deno.json"];
  await runProgram(Deno.execPath(), ["check", ...config, "examples/nextjs-chat/app"], {
    cwd: PROJECT_ROOT,
  });
});

Deno.test("the Vue dashboard starts a job, approves its draft and shows the result", async () => {
  const { supabase } = await openExamples();
  await using page = await openPage();
  const { root } = page;
  const module = await importPage(join(EXAMPLES, "vue-dashboard/src/App.vue"), {});
  const { createApp } = await loadVue();
  const app = createApp(module.default as never, { supabase, agent: "writer" });
  app.mount(root as never);
  await untilShown(root, "Start");
  write(root, "input", TOPIC);
  root.querySelector("form")?.requestSubmit();
  await untilShown(root, "Publish this announcement?");
  root.querySelector("article button")?.dispatchEvent(page.clickEvent());
  await untilShown(root, /completed.*Our API has webhooks/s);
  app.unmount();
  await supabase.realtime.disconnect();
});

Deno.test("the edge function answers with the result, or with the job after its wait", async () => {
  const { env, accessToken, supabase } = await openExamples();
  const port = freePorts();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "index.ts"],
    cwd: join(EXAMPLES, "edge-function/answer"),
    env: {
      DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
      SUPABASE_URL: env.SUPABASE_URL,
      SUPABASE_ANON_KEY: env.SUPABASE_PUBLISHABLE_KEY,
      WAIT_MS: "20000",
    },
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const ask = (body: object, headers = {}) =>
      fetch(`http://127.0.0.1:${port}`, {
        method: "POST",
        headers: { authorization: `Bearer ${accessToken}`, ...headers },
        body: JSON.stringify(body),
      });
    await waitFor(() => Deno.connect({ port }).then((it) => (it.close(), true), () => false), {
      what: "the function",
    });
    const key = { "idempotency-key": crypto.randomUUID() };
    const answering = ask({ topic: TOPIC }, key);
    const swarm = createSwarm(supabase);
    const review = await waitFor(
      async () => (await swarm.reviews.list()).find(({ question }) => question.includes("Publish")),
      { what: "the writer's question" },
    );
    await swarm.reviews.respond(review, { approved: true });
    const answer = await answering;
    assert.equal(answer.status, 200);
    assert.match((await answer.json()).announcement, OUTPUT);

    const again = await ask({ topic: TOPIC }, key);
    assert.match((await again.json()).announcement, OUTPUT, "the same key has the same job");
    const stranger = await ask({ topic: TOPIC }, { authorization: "Bearer wrong" });
    assert.equal(stranger.status, 401);
    assert.equal(typeof (await stranger.json()).error.code, "string");
  } finally {
    child.kill();
    await child.status;
  }
});

/** Lines with code, without blank lines, comments and configuration. */
async function codeLines(folder: string): Promise<number> {
  let count = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === "node_modules") continue;
    if (isDirectory) count += await codeLines(join(folder, name));
    if (!/\.(mjs|tsx?|vue|py|sql)$/.test(name)) continue;
    const lines = (await Deno.readTextFile(join(folder, name))).split("\n");
    count += lines.filter((line) =>
      /\S/.test(line) && !/^\s*(\/\/|\/\*|\*|#|--)/.test(line)
    ).length;
  }
  return count;
}
