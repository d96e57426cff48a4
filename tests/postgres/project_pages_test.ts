import assert from "node:assert/strict";
import { dirname, join, normalize } from "node:path";
import { type Deployment, startManagementApi } from "../../scripts/deploy/management_api.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { findFunctions } from "../../stack/functions/find_functions.ts";
import { readContents } from "../command/read_contents.ts";
import { installPacked, packCommand } from "../command/packed_command.ts";
import { createUserProject, type UserProject } from "../command/user_project.ts";
import { codeBlocks } from "../docs/code_blocks.ts";
import { readCiPage } from "../docs/workflow_steps.ts";
import { documentedShell, shellBlocks, withoutTls } from "../docs/documented_shell.ts";
import { startNativeServer } from "./native_server.ts";

/** The platform bundles at most 5 MB of files. */
const MAX_UPLOAD_BYTES = 4_000_000;
const RELATIVE_IMPORT = /\b(?:from|import) ?\(?"(\.\.?\/[^"]+)"/g;

const blocksOf = (page: string) => shellBlocks(join(PROJECT_ROOT, "docs/how-to", page));

Deno.test("the pages to add, upgrade and remove, followed literally on a project of one's own", async (t) => {
  await using server = await startNativeServer();
  await using packed = await packCommand();
  await using project = await createUserProject();
  await installPacked(project, packed);
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-pages-" });
  const api = startManagementApi();
  const run = await documentedShell({
    folder,
    cwd: project.root,
    apiUrl: api.url,
    environment: {
      SUPABASE_ACCESS_TOKEN: `sbp_${"0".repeat(40)}`,
      PROJECT_REF: api.projectRef,
      DATABASE_URL: withoutTls(server.cluster.url),
      OPENAI_API_KEY: "sk-stand-in",
    },
  });
  const [init = "", push = "", agent = "", doctor = "", ...rest] = await blocksOf(
    "add-to-a-project.md",
  );
  const [upgrade = "", pushAgain = ""] = await blocksOf("upgrade.md");
  const [remove = ""] = await blocksOf("remove.md");
  const { sql } = server;
  try {
    assert.deepEqual(rest, []);
    // The project's own migration is applied before.
    await run(push.split("\n")[0] ?? "");
    const before = await readContents(sql);

    await t.step("init adds the platform", async () => {
      assert.match(await run(init), /Nothing was changed \(--dry-run\)[^]*Added SupaSwarm 0\.1\.0/);
    });
    await t.step("the real CLI pushes the migration and deploys all functions", async () => {
      assert.match(await run(push), /Finished supabase db push/);

      const expected = [...(await findFunctions(project.root)).keys()].sort();
      assert.deepEqual(api.deployments.map(({ slug }) => slug).sort(), expected);
      assert.equal(expected.length, 11);
      for (const deployment of api.deployments) {
        assert.deepEqual(await missingModules(deployment), [], deployment.slug);
        assert.ok(deployment.bytes < MAX_UPLOAD_BYTES, `${deployment.slug}: ${deployment.bytes}`);
      }
    });
    await t.step("the agent exists", async () => {
      await savePageFiles(project, "add-to-a-project.md");

      assert.match(await run(agent), /created +agent greeter/);
      // It belongs to the project, and would stay after the removal.
      await Deno.remove(join(project.root, "agents"), { recursive: true });

      const [row] = await sql`
        select count(*)::int as agents from supaswarm.agents join supaswarm.llm_providers as provider
        on provider.id = provider_id where slug = 'greeter' and provider.name = 'openai'`;
      assert.equal(row?.agents, 1);
    });
    await t.step("the deployment of the page about CI changes only what is new", async () => {
      const before = api.deployments.length;
      await savePageFiles(project, "add-to-a-project.md");
      for (const command of (await readCiPage()).commands("deploy")) await run(command);
      await Deno.remove(join(project.root, "agents"), { recursive: true });

      assert.equal(api.deployments.length - before, 11);
      const [seeded] = await sql`select count(*)::int as rows from private.settings`;
      assert.equal(seeded?.rows, 0, "the seed of the project was not pushed");
    });
    await t.step("doctor misses only what needs running functions", async () => {
      const error = await run(doctor).then(() => assert.fail("doctor found nothing"), String);

      const failed = [...error.matchAll(/✗ ([^:]+):/g)].map(([, claim]) => claim);
      assert.deepEqual(failed, ["Cron runs on time", "The database knows the project's address"]);
    });
    await t.step("a push and an upgrade of the same release change nothing", async () => {
      await project.commit();

      assert.match(await run(upgrade), /Nothing to change\.[^]*Nothing to change\./);
      assert.match(await run(pushAgain), /up to date/);
    });
    await t.step("remove leaves the database and the folder as they were", async () => {
      // A secret of the project would keep the extension that stores it.
      await sql`delete from vault.secrets where name = 'OPENAI_API_KEY'`;

      await run(remove);

      const after = await readContents(sql);
      assert.deepEqual(after.filter((line) => !before.includes(line)), []);
      assert.deepEqual(before.filter((line) => !after.includes(line)), []);
      assert.equal((await project.run("git", "diff", "--stat", "HEAD~1")).stdout, "");
    });
  } finally {
    await api.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Writes the files that a page tells its reader to save. */
async function savePageFiles(project: UserProject, page: string): Promise<void> {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, "docs/how-to", page));
  const blocks = codeBlocks(page, text.replace(/^<!-- blocks not run: .+ -->$/m, ""));
  for (const { directive, text } of blocks) {
    if (directive.kind === "save") await project.write(directive.path, text);
  }
}

/** Modules that an upload imports, also when they are needed first, and does not contain. */
async function missingModules({ contents }: Deployment): Promise<string[]> {
  const missing: string[] = [];
  for (const [path, blob] of contents) {
    for (const [, target = ""] of (await blob.text()).matchAll(RELATIVE_IMPORT)) {
      const module = normalize(join(dirname(path), target));
      if (!contents.has(module)) missing.push(`${path}: ${module}`);
    }
  }
  return missing;
}
