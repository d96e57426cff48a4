import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { codeBlocks } from "../docs/code_blocks.ts";
import { createSwarm } from "../../client/mod.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { signUp } from "../../scripts/demo/user_client.ts";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { readLines } from "../../stack/functions/read_lines.ts";
import { startDev } from "./dev_process.ts";
import { createUserProject } from "./user_project.ts";

const AGENT = scriptTurns(
  "greeter",
  call("save_intermediate_data", { key: "note", value: "kept" }),
  complete({ greeting: "Hello, Ada" }),
);

const AGENT_FILE = `---
name: greeter
provider: local-model
model: greeter
handoffs: none
---

Greet whom the input names.
`;

/** The page's block in this language: the agent `hello`, or its script. */
async function pageBlock(language: string): Promise<string> {
  const page = "docs/how-to/develop-locally.md";
  const blocks = codeBlocks(page, await Deno.readTextFile(join(PROJECT_ROOT, page)));
  const found = blocks.find((block) => block.language === language);
  assert.ok(found);
  return `${found.text}\n`;
}

const EVALS = `tests:
  - description: greets
    vars: Ada
    assert:
      - { type: javascript, value: 'output.greeting.endsWith(context.vars)' }
      - { type: trajectory, value: [save_intermediate_data] }
      - { type: sql, value: "select count(*) > 0 from task_steps where task_id = {{task_id}}" }
`;

const MCPS = `mcps:
  desk:
    name: Desk
    url: https://desk.example.com/mcp
    credentials:
      token_env: DESK_TOKEN
`;

const PLANTS = `create table public.plants (name text primary key);
alter table public.plants enable row level security;
create policy readable on public.plants for select to anon using (true);
grant select on public.plants to anon;
insert into public.plants values ('fern');
`;

/** The log line of a change that was pushed. */
function pushed(slug: string, change: string): RegExp {
  return new RegExp(`"definition\\.pushed","kind":"agent","slug":"${slug}","change":"${change}"`);
}

Deno.test("supaswarm dev runs a user's project and follows its files", async (t) => {
  await using packed = await packCommand();
  await using project = await createUserProject();
  await installPacked(project, packed);
  const supaswarm = (...args: string[]) => project.run("npx", "--no-install", "supaswarm", ...args);

  await t.step("without the platform it says what to do first", async () => {
    const { code, stderr } = await supaswarm("dev");

    assert.equal(code, 1);
    assert.match(stderr, /Cannot run supaswarm dev: this folder has no .*\n.*supaswarm init/);
  });

  const added = await supaswarm("init", "--yes");
  assert.equal(added.code, 0, added.stderr);
  await project.write(
    "supabase/functions/hello/deno.json",
    '{ "imports": { "#words": "./words.ts" } }',
  );
  await project.write("supabase/functions/hello/words.ts", 'export const word = "Hello";\n');
  await project.write(
    "supabase/functions/hello/index.ts",
    `import { word } from "#words";

Deno.serve((request) => {
  if (new URL(request.url).searchParams.has("fail")) throw new Error("no greeting");
  return new Response(word + " " + Deno.env.get("NAME"));
});
`,
  );
  await project.write("supabase/functions/.env", "NAME=Grace\n");
  const [helloFile, helloScript] = [await pageBlock("md"), await pageBlock("yaml")];
  await project.write("agents/hello.md", helloFile);
  await project.write("agents/hello.script.yaml", helloScript);
  await project.commit();

  await t.step("without a network, the first start says what to do", async () => {
    const { code, stderr } = await project.run(
      "bash",
      "-c",
      `export DENO_DIR="$(mktemp -d)" PATH='${dirname(Deno.execPath())}':"$PATH"
      export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9
      npx --no-install supaswarm dev`,
    );

    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: Cannot download the packages: https?:\S+ does not answer \[PACKAGES_UNREACHABLE\]\n/,
    );
    assert.match(stderr, /HTTPS_PROXY[^\n]*\n$/);
  });
  const models = await startModelServer({ agents: [AGENT] });
  try {
    await using dev = startDev(project.root, { OPENAI_BASE_URL: `${models.url}/v1` });
    const ready = await dev.ready;
    const get = (path: string) =>
      fetch(`${ready.api_url}${path}`, { headers: { apikey: ready.publishable_key } });

    await t.step(
      "its migrations, seed and functions are served, with their own imports",
      async () => {
        const tasks = await get("/rest/v1/tasks?select=title");
        const hello = await get("/functions/v1/hello");

        assert.deepEqual(await tasks.json(), [{ title: "Water the plants" }]);
        assert.equal(await hello.text(), "Hello Grace");
      },
    );
    await t.step("an error in a function is shown with file and line", async () => {
      const answer = await get("/functions/v1/hello?fail");

      assert.equal(answer.status, 500);
      await answer.body?.cancel();
      await dev.printed(
        /"error","function":"hello","message":"Error: no greeting[^"]*index\.ts:4:/,
      );
    });
    await t.step("a saved function is served", async () => {
      await project.write("supabase/functions/hello/words.ts", 'export const word = "Hi";\n');

      await waitFor(async () => (await (await get("/functions/v1/hello")).text()) === "Hi Grace", {
        what: "the saved function",
      });
    });
    await t.step("supaswarm worker serves its status, and ends with a signal", async () => {
      const worker = new Deno.Command("node_modules/.bin/supaswarm", {
        args: ["worker", "--port", "0", "--json"],
        cwd: project.root,
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      let status: unknown = null;
      for await (const line of readLines(worker.stdout)) {
        if (!line.includes('"ready":true')) continue;
        status = await (await fetch(`${JSON.parse(line).url}/ready`)).json();
        worker.kill("SIGTERM");
      }

      assert.deepEqual(status, { ready: true });
      assert.equal((await worker.status).code, 0);
    });
    await t.step("a saved migration is applied", async () => {
      await project.write("supabase/migrations/20261116000000_plants.sql", PLANTS);

      const rows = await waitFor(async () => {
        const answer = await get("/rest/v1/plants?select=name");
        const rows = await answer.json();

        return answer.ok && rows;
      }, { what: "the new table" });
      assert.deepEqual(rows, [{ name: "fern" }]);
    });
    await t.step(
      "a migration that fails is shown with file and line, and changes nothing",
      async () => {
        const path = "supabase/migrations/20261117000000_pots.sql";
        await project.write(
          path,
          "create table public.pots (id int);\nselect wrong from public.pots;\n",
        );

        await dev.printed(/20261117000000_pots\.sql, line 2: column \\"wrong\\" does not exist/);

        await project.write(path, "create table public.pots (id int);\n");
        await dev.printed(/"migration\.applied","version":"20261117000000"/);
      },
    );
    const { client } = await signUp(
      { apiUrl: ready.api_url, publishableKey: ready.publishable_key },
      "reader",
    );
    const swarm = createSwarm(client, { schema: "supaswarm" });
    const run = async (agent: string, input: string | JsonObject) =>
      await (await swarm.run(agent, input)).result();
    await t.step("an agent of the project answers from its script without a key", async () => {
      assert.deepEqual(await run("hello", { name: "Ada" }), { greeting: "Hello, Ada" });
      assert.equal(await run("hello", "?"), "Whom should I greet?");
    });
    await t.step("a saved agent is pushed, and a job runs", async () => {
      await project.write("agents/greeter.md", AGENT_FILE);

      await dev.printed(pushed("greeter", "created"));

      assert.deepEqual(await run("greeter", "Ada"), { greeting: "Hello, Ada" });
    });
    await t.step("a saved script answers the next job, and a saved prompt is pushed", async () => {
      await project.write("agents/hello.script.yaml", helloScript.replace("Whom", "Whom else"));
      await project.write("agents/hello.md", `${helloFile}Be brief.\n`);
      await dev.printed(pushed("hello", "changed"));

      assert.equal(await run("hello", "?"), "Whom else should I greet?");
    });
    await t.step("a mistake in a script is shown with file and line", async () => {
      await project.write("agents/hello.script.yaml", helloScript.replace("say:", "sya:"));

      await dev.printed(/"script\.refused","error":"agents\/hello\.script\.yaml:4: .*did you mean/);

      await project.write("agents/hello.script.yaml", helloScript);
    });
    await t.step("the scripted model is announced, and no agents that the project has not", () => {
      const { other_ports: ports } = ready;

      assert.ok(ports.some(({ serves }) => serves.includes("scripted model")));
      assert.doesNotMatch(JSON.stringify(ports), /demo|planner/);
    });
    await t.step("pull writes what push reads, and agents lists the revision", async () => {
      await supaswarm("pull", "greeter");
      const pushed = await supaswarm("push");
      const agents = await supaswarm("agents", "list");

      assert.match(pushed.stdout, /unchanged +agent greeter[^]*The registry matches the files/);
      assert.match(agents.stdout, /greeter \| 1 /);
    });
    await t.step("pull and push leave scripts alone", async () => {
      await supaswarm("pull");
      const { code, stdout } = await supaswarm("push");

      assert.equal(code, 0);
      assert.doesNotMatch(stdout, /script/);
      assert.equal(
        await Deno.readTextFile(join(project.root, "agents/hello.script.yaml")),
        helloScript,
      );
    });
    await t.step("eval runs the tests of an agent, and its exit code is their result", async () => {
      await project.write("agents/greeter.evals.yaml", EVALS);
      const passed = await supaswarm("eval", "greeter");
      await project.write("agents/greeter.evals.yaml", EVALS.replace("vars: Ada", "vars: Grace"));
      const failed = await supaswarm("eval", "greeter", "--against", "last");

      assert.equal(passed.code, 0, passed.stderr);
      assert.match(passed.stdout, /^greets \| 1\/1 /m);
      assert.equal(failed.code, 1, failed.stderr);
      assert.match(failed.stdout, /^failed +greets, job 1 .*: javascript: /m);
      assert.match(failed.stdout, /^undecided +greets: 1\/1 before, 0\/1 now/m);
    });
    await t.step("types reads the running database", async () => {
      const { stdout, stderr } = await supaswarm("types");

      assert.equal(stderr, "");
      assert.match(stdout, /agents: \{[^]*greeter: \{/);
    });
    await t.step("sql finds the platform's tables, and the project's own before them", async () => {
      const { stdout, stderr } = await supaswarm(
        "sql",
        "--json",
        "select slug, (select min(title) from tasks) as title from agents where slug = 'greeter'",
      );

      assert.equal(stderr, "");
      assert.deepEqual(JSON.parse(stdout).rows, [{ slug: "greeter", title: "Water the plants" }]);
    });
    await t.step("quoth:add indexes a folder of the project", async () => {
      await project.write("docs/plants.md", "# Plants\n\nWater the fern.\n");

      const { stdout, stderr } = await supaswarm("quoth:add", "--slug", "own", "--folder", "docs");

      assert.equal(stderr, "");
      assert.match(stdout, /1 to index/);
    });
    await t.step("a mistake in a file is named with what to do", async () => {
      await project.write("agents/greeter.md", AGENT_FILE.replace("provider:", "providr:"));

      const { code, stderr } = await supaswarm("push");

      assert.equal(code, 1);
      assert.match(stderr, /agents\/greeter\.md:3: .*provider/);
      await dev.printed(/"push\.refused","error":".*agents\/greeter\.md:3: .*provider/);
    });
    await t.step("what it keeps is not for git", async () => {
      const { stdout } = await project.run("git", "status", "--porcelain");

      assert.doesNotMatch(stdout, /\.supaswarm|deno\.lock/);
    });
    dev.stop();
    assert.equal((await dev.ended).code, 0);
    await assert.rejects(Deno.stat(join(project.root, "deno.lock")));

    await t.step(
      "a start adds missing servers before the agents that use them",
      async () => {
        await project.write("external-mcps.yaml", MCPS);
        await project.write("agents/greeter.md", AGENT_FILE);
        await project.write(
          "agents/clerk.md",
          AGENT_FILE.replace("handoffs: none", "tools: desk/find").replace("greeter", "clerk"),
        );
        {
          await using dev = startDev(project.root, {});
          await dev.ready;
          await dev.printed(/external-mcps\.yaml:6: .*DESK_TOKEN is not set/);
          await dev.printed(/"push\.refused".*there is no tool \\"desk\\"/);
        }
        await using dev = startDev(project.root, { DESK_TOKEN: "token" });
        await dev.printed(/"server\.pushed","slug":"desk","change":"added"/);
        await dev.printed(pushed("clerk", "created"));
        await dev.ready;
      },
    );
    await t.step("without the platform's migration it says which file to restore", async () => {
      await project.run("bash", "-c", "rm supabase/migrations/*_supaswarm_0_1_0.sql");

      const { code, stderr } = await supaswarm("dev", "--ephemeral", "--port", "0");

      assert.equal(code, 1);
      assert.match(
        stderr,
        /no file in supabase\/migrations creates the platform \[CONFIG_INVALID\]\n.*_supaswarm_0_1_0/,
      );
    });
  } finally {
    await models.stop();
  }
});
