import assert from "node:assert/strict";
import { join } from "node:path";
import { SUPABASE_JS_VERSION } from "../../scripts/deps.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { serveChat } from "../docs/chat_server.ts";
import { type CodeBlock, codeBlocks } from "../docs/code_blocks.ts";
import { startDev } from "./dev_process.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { createUserProject } from "./user_project.ts";

const SKILL = "plugin/skills/supaswarm/SKILL.md";

Deno.test("the skill, followed literally in a project of one's own, ends with an agent's result", async () => {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, SKILL));
  const blocks = codeBlocks(SKILL, text).filter(({ directive }) => directive.kind !== "not run");
  const [init, push, doctor, ...others] = blocks.filter(({ language }) => language === "sh");
  assert.ok(init !== undefined && push !== undefined && doctor !== undefined);
  assert.deepEqual(others, []);
  await using packed = await packCommand();
  await using project = await createUserProject();
  await installPacked(project, packed);
  const run = async ({ text }: CodeBlock): Promise<string> => {
    const { code, stdout, stderr } = await project.run("bash", "-euc", text);
    assert.equal(code, 0, `${text}\n${stdout}${stderr}`);
    return stdout;
  };

  assert.match(await run(init), /Nothing was changed \(--dry-run\)[^]*Added SupaSwarm/);
  await project.commit();
  await using models = serveChat();
  await using dev = startDev(project.root, { OPENAI_BASE_URL: models.baseUrl });
  const ready = await dev.ready;
  for (const { directive, text } of blocks) {
    if (directive.kind === "save") await project.write(directive.path, `${text}\n`);
  }

  // The running stack pushes saved files too, and may be first.
  assert.match(await run(push), /(created|unchanged) +agent greeter/);
  await project.write("import_map.json", importMap(project.root));
  const greeted = await project.run(
    "bash",
    "-euc",
    `set -a; . .supaswarm/project.env
      '${Deno.execPath()}' run -A --no-lock --node-modules-dir=none --import-map import_map.json greet.mjs`,
  );
  assert.match(greeted.stdout, /greeting: "Hello, Ada"/, greeted.stderr);

  await using sql = operatorOf(ready.db_url);
  await sql.ticked();
  assert.match(await run(doctor), /✓ Every agent's provider has its key/);
  for (const { text } of blocks.filter(({ language }) => language === "sql")) {
    await sql.run(text);
  }
  const { stdout } = await project.run(
    "bash",
    "-euc",
    'set -a; . .supaswarm/project.env; npx supaswarm types --db "$SUPABASE_DB_URL"',
  );
  assert.match(stdout, /greeter: \{[^]*output: \{ greeting: string \}/);
});

/** The packages that a page would install. */
function importMap(root: string): string {
  const client = join(root, "node_modules/supaswarm/client.js");
  return JSON.stringify({
    imports: {
      "@supabase/supabase-js": `npm:@supabase/supabase-js@${SUPABASE_JS_VERSION}`,
      "supaswarm/client": `file://${client}`,
    },
  });
}

function operatorOf(databaseUrl: string) {
  const sql = createSql(databaseUrl, { maxConnections: 1, applicationName: "skill" });
  return {
    run: (text: string) => sql.unsafe(text).simple(),
    /** Cron has run once, which `doctor` checks. */
    ticked: () =>
      waitFor(async () => {
        const [run] = await sql`
          select from cron.job_run_details join cron.job using (jobid)
          where jobname = 'supaswarm-tick' limit 1`;
        return run;
      }, { what: "the first tick" }),
    [Symbol.asyncDispose]: () => sql.end(),
  };
}
