import assert from "node:assert/strict";
import { join } from "node:path";
import { SUPABASE_JS_VERSION } from "../../scripts/deps.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { codeBlocks } from "../docs/code_blocks.ts";
import type { ReadyLine } from "../stack/start_process.ts";
import { startDev } from "./dev_process.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { createUserProject, type UserProject } from "./user_project.ts";

const STARTER = ["agents/writer.evals.yaml", "agents/writer.md", "agents/writer.script.yaml"];

const packed = await packCommand();
Deno.test.afterAll(async () => await packed[Symbol.asyncDispose]());

const supaswarm = (project: UserProject, ...args: string[]) =>
  project.run("npx", "--no-install", "supaswarm", ...args);

/** The files of the project's agents that git does not have. */
async function newAgentFiles(project: UserProject): Promise<string[]> {
  const options = ["--porcelain", "--untracked-files=all", "--", "agents"];
  const { stdout } = await project.run("git", "status", ...options);
  return stdout.split("\n").filter((line) => line !== "").map((line) => line.slice(3));
}

async function emptyProject(files: Readonly<Record<string, string>> = {}): Promise<UserProject> {
  const project = await createUserProject({ ".gitignore": "node_modules\n", ...files });
  await installPacked(project, packed);
  return project;
}

Deno.test("init leaves an agent that runs, and the commands that it names run it", async (t) => {
  await using project = await emptyProject();

  await t.step(
    "its last lines name the command that runs it and the page that shows it",
    async () => {
      const { code, stdout, stderr } = await supaswarm(project, "init", "--yes");

      assert.equal(code, 0, stderr);
      assert.deepEqual(await newAgentFiles(project), STARTER);
      const last = stdout.trimEnd().split("\n").slice(-3);
      assert.match(last[0] ?? "", /^ {2}npx supaswarm dev +\S/);
      assert.match(last[1] ?? "", /^ {2}npx supaswarm eval writer +\S/);
      assert.match(last[2] ?? "", /^ {2}http:\/\/127\.0\.0\.1:54323 +\S/);
      await project.commit();
    },
  );
  await t.step("a second run writes nothing, also when the agent was deleted", async () => {
    await Deno.remove(join(project.root, "agents/writer.evals.yaml"));

    const { stdout } = await supaswarm(project, "init", "--yes");

    assert.match(stdout, /Nothing to change/);
    const { stdout: changed } = await project.run("git", "status", "--porcelain");
    assert.equal(changed, " D agents/writer.evals.yaml\n");
    await project.run("git", "checkout", "--quiet", "agents");
  });
  await using dev = startDev(project.root, {});
  const ready = await dev.ready;
  await t.step("eval runs it", async () => {
    const { code, stdout, stderr } = await supaswarm(project, "eval", "writer");

    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /publishes what a person approves[^]*total +\| 2\/2 /);
  });
  await t.step("the first program of the README runs as it stands", async () => {
    const output = await runReadme(project, ready);

    assert.match(output, /^review\.requested \{[^]*question: "Publish this announcement\?"/m);
    assert.match(
      output,
      /^\{\s+announcement: "News: our API has webhooks\. Try it today[^"]*"\s+\}\s*$/m,
    );
  });
  await t.step("doctor finds the running stack, and no key that the agent needs", async () => {
    await untilTicked(ready);

    const { code, stdout, stderr } = await supaswarm(project, "doctor");

    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^Database {3}127\.0\.0\.1:\d+\/postgres, of supaswarm dev/m);
    assert.match(stdout, new RegExp(`^Functions {2}${ready.api_url} \\(on this machine\\)$`, "m"));
    assert.match(stdout, /✓ Every agent's provider has its key/);
    assert.match(stdout, /✓ All functions are deployed/);
  });
  await t.step(
    "new adds files that push takes as they are, and names the next command",
    async () => {
      const added = [
        await supaswarm(project, "new", "agent", "support"),
        await supaswarm(project, "new", "tool", "items"),
        await supaswarm(project, "new", "skill", "letters"),
      ];
      for (const { code, stderr } of added) assert.equal(code, 0, stderr);
      assert.match(
        added[0]?.stdout ?? "",
        /npx supaswarm push support[^]*npx supaswarm eval support/,
      );

      const pushed = await supaswarm(project, "push");
      const ran = await supaswarm(project, "eval", "support");

      assert.equal(pushed.code, 0, pushed.stderr);
      // The running stack pushes saved files too, and may be first.
      for (const name of ["agent support", "tool items", "skill letters"]) {
        assert.match(pushed.stdout, new RegExp(`^(created|unchanged) +${name}$`, "m"));
      }
      assert.equal(ran.code, 0, ran.stdout + ran.stderr);
      assert.match(ran.stdout, /total +\| 1\/1 /);
    },
  );
  await t.step("new refuses a name that exists or is not valid, and writes nothing", async () => {
    const before = await newAgentFiles(project);
    const refused = [
      [["agent", "support"], /the project has agents\/support\.md \[NAME_TAKEN\]/],
      [["agent", "writer"], /the project has agents\/writer\.md \[NAME_TAKEN\]/],
      [["skill", "letters"], /the project has agents\/skills\/letters \[NAME_TAKEN\]/],
      [
        ["agent", "Support"],
        /the name is not valid \[NAME_INVALID\]\nChoose a name that has 1 to 63/,
      ],
      [["tool", "supabase"], /the name is not valid \[NAME_INVALID\]/],
      [["prompt", "one"], /Cannot add "prompt": there is no such kind \[USAGE_INVALID\]/],
      [["agent"], /Write supaswarm new agent\|tool\|skill <name>/],
    ] as const;
    for (const [args, error] of refused) {
      const { code, stderr } = await supaswarm(project, "new", ...args);
      assert.notEqual(code, 0, args.join(" "));
      assert.match(stderr, error);
    }
    assert.deepEqual(await newAgentFiles(project), before);
  });
  await t.step("remove deletes what init added, and keeps and names what was changed", async () => {
    dev.stop();
    await dev.ended;
    const agent = join(project.root, "agents/writer.md");
    await Deno.writeTextFile(agent, `${await Deno.readTextFile(agent)}Be brief.\n`);
    await project.commit();

    const { code, stdout, stderr } = await supaswarm(project, "remove", "--yes");

    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ {2}stays, because you changed it: agents\/writer\.md$/m);
    const left = await project.run("git", "ls-files", "--deduplicate", "agents");
    const deleted = await project.run("git", "ls-files", "--deleted", "agents");
    assert.deepEqual(deleted.stdout.trim().split("\n"), [
      "agents/writer.evals.yaml",
      "agents/writer.script.yaml",
    ]);
    assert.match(left.stdout, /agents\/support\.md\n[^]*agents\/tools\/items\.yaml\n/);
    await assert.rejects(Deno.stat(join(project.root, "supabase")), Deno.errors.NotFound);
  });
});

Deno.test("init adds no agent with --bare, nor to a project that has agents", async (t) => {
  await t.step("--bare", async () => {
    await using project = await emptyProject();

    const { stdout } = await supaswarm(project, "init", "--yes", "--bare");

    assert.deepEqual(await newAgentFiles(project), []);
    assert.match(stdout, /npx supaswarm new agent <name>[^]*npx supaswarm dev/);
  });
  await t.step("agents of its own", async () => {
    await using project = await emptyProject({ "agents/README.md": "Ours.\n" });

    await supaswarm(project, "init", "--yes");

    assert.deepEqual(await newAgentFiles(project), []);
  });
});

Deno.test("on a terminal init asks whether to add the agent, and before it writes", async (t) => {
  const cases: readonly (readonly [answers: [string, string], files: readonly string[]])[] = [
    [["y", "y"], STARTER],
    [["n", "y"], []],
    [["y", "n"], []],
    // Ctrl-C
    [["\x03", ""], []],
  ];
  for (const [[agent, write], files] of cases) {
    await t.step(JSON.stringify([agent, write]), async () => {
      await using project = await emptyProject();

      const output = await answerOnTerminal(project, "npx --no-install supaswarm init", [
        [/Add the agent "writer"/, agent],
        ...write === "" ? [] : [[/Write these files\?/, write] as const],
      ]);

      assert.deepEqual(await newAgentFiles(project), files, output);
      assert.match(output, write === "y" ? /Added SupaSwarm/ : /Nothing was changed/);
    });
  }
});

/** Runs a command on a pseudo terminal, and answers its questions in their order. */
async function answerOnTerminal(
  project: UserProject,
  command: string,
  answers: readonly (readonly [question: RegExp, key: string])[],
): Promise<string> {
  await using child = new Deno.Command("script", {
    // A new terminal has no columns, and wraps after each letter.
    args: ["--quiet", "--return", "--command", `stty cols 120; ${command}`, "/dev/null"],
    cwd: project.root,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let output = "";
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) output += text;
  })();
  const writer = child.stdin.getWriter();
  for (const [question, key] of answers) {
    await waitFor(() => question.test(output) || undefined, { what: `${question} in ${output}` });
    await writer.write(new TextEncoder().encode(key));
  }
  await child.status;
  await writer.close().catch(() => {});
  await reading;
  return output;
}

/** Runs the README's first program as a signed-in user. */
async function runReadme(project: UserProject, ready: ReadyLine): Promise<string> {
  const readme = await Deno.readTextFile(join(PROJECT_ROOT, "README.md"));
  const block = codeBlocks("README.md", readme).find(({ language }) => language === "ts");
  assert.ok(block);
  const prelude = `import { createClient } from "@supabase/supabase-js";
const supabase = createClient("${ready.api_url}", "${ready.publishable_key}");
await supabase.auth.signUp({ email: "ada@example.com", password: "correct horse battery" });
`;
  const client = join(project.root, "node_modules/supaswarm/client.js");
  const imports = {
    "@supabase/supabase-js": `npm:@supabase/supabase-js@${SUPABASE_JS_VERSION}`,
    "supaswarm/client": `file://${client}`,
  };
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify({ imports }));
    // A user's session would keep the program running.
    await Deno.writeTextFile(
      join(folder, "readme.ts"),
      `${prelude}${block.text}\nDeno.exit();\n`,
    );
    const { stdout, stderr, code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--node-modules-dir=none", "readme.ts"],
      cwd: folder,
      env: { NO_COLOR: "1" },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Cron has run once, which `doctor` checks. */
async function untilTicked(ready: ReadyLine): Promise<void> {
  const sql = createSql(ready.db_url, { maxConnections: 1, applicationName: "starter" });
  try {
    await waitFor(async () => {
      const [run] = await sql`
        select from cron.job_run_details join cron.job using (jobid)
        where jobname = 'supaswarm-tick' limit 1`;
      return run;
    }, { what: "the first tick" });
  } finally {
    await sql.end();
  }
}
