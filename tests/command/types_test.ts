import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import { MANIFEST_PATH } from "../../client/command/project/manifest.ts";
import {
  INSTALLED_SCHEMAS,
  type InstalledSchema,
} from "../../client/command/release/fill_names.ts";
import { migrationText } from "../../client/command/release/migration_text.ts";
import type { ReleaseMigration } from "../../client/command/release/release.ts";
import { SUPABASE_JS_VERSION } from "../../scripts/deps.ts";
import { buildClient } from "../../scripts/package/build_package.ts";
import { buildReleaseSql } from "../../scripts/package/build_release.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { installPackages } from "../../scripts/vendor/install_packages.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { codeBlocks } from "../docs/code_blocks.ts";
import { chosenNames } from "./installed_project.ts";
import { CLIENT, MISTAKES, OWN_TYPES, STATEMENTS } from "./typed_programs.ts";

const PAGE = "docs/how-to/type-your-client.md";
const AGENT = {
  input: { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] },
  output: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
};
const FORECAST = {
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  outputSchema: {
    type: "object",
    properties: { degrees: { type: "number" } },
    required: ["degrees"],
  },
};
/** An HTTP API that nobody has called. */
const STOCK = {
  method: "GET",
  url: "https://stock.example/{sku}",
  parameters: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
};

Deno.test("the printed types of a project find each mistake of a client", async (t) => {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-types-" });
  try {
    await installPackages(PROJECT_ROOT, root, { "@supabase/supabase-js": SUPABASE_JS_VERSION });
    await buildClient(join(root, "node_modules/supaswarm"));
    const { migrations } = await buildReleaseSql();
    const mistakes = Object.entries(MISTAKES).flatMap(([what, planted]) =>
      planted.map((mistake) => ({ what, ...mistake }))
    );
    const page = await pageProgram();
    const wrong = mistakes.map(({ statement }) => statement).join("\n");
    for (const schema of INSTALLED_SCHEMAS) {
      const folder = join(root, schema);
      await writeInstalled(folder, schema, migrations);
      const files = {
        "supaswarm.types.ts": await printedTypes(folder, schema),
        "database.types.ts": OWN_TYPES,
        "page.ts": page,
        "right.ts": `${CLIENT}${STATEMENTS}`,
        "wrong.ts": `${CLIENT}${wrong}`,
      };
      for (const [name, text] of Object.entries(files)) {
        await Deno.writeTextFile(join(folder, name), text);
      }
    }
    const problems = await typeProblems(root);

    for (const schema of INSTALLED_SCHEMAS) {
      const inSchema = problems.filter(({ path }) => path.startsWith(`${schema}/`));
      await t.step(`in schema ${schema} none in a correct client and in the how-to`, () => {
        assert.deepEqual(inSchema.filter(({ path }) => !path.endsWith("/wrong.ts")), []);
      });
      for (const [place, { what, statement, error }] of mistakes.entries()) {
        await t.step(`in schema ${schema} ${what}: ${statement}`, () => {
          const line = CLIENT.split("\n").length + place;
          const [found, ...others] = inSchema.filter((problem) => problem.line === line);

          assert.match(found?.text ?? "", error);
          assert.deepEqual(others, []);
        });
      }
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** The TypeScript of the how-to, whose blocks follow each other. */
async function pageProgram(): Promise<string> {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, PAGE));
  return codeBlocks(PAGE, text).filter(({ language }) => language === "ts")
    .map((block) => block.text).join("\n");
}

/** Writes what an installation adds to a project, as far as the command reads it. */
async function writeInstalled(
  folder: string,
  schema: InstalledSchema,
  migrations: readonly ReleaseMigration[],
): Promise<void> {
  const { functions } = chosenNames(schema);
  const names = { schema, functions: { ...functions, mcp: "supaswarm-mcp" } };
  const write = async (path: string, text: string) => {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  };
  await write("supabase/migrations/20260102000000_supaswarm.sql", migrationText(migrations, names));
  await write(MANIFEST_PATH, JSON.stringify(names));
}

/** What `supaswarm types` prints for a project with an agent and a tool server. */
async function printedTypes(folder: string, schema: InstalledSchema): Promise<string> {
  const database = await openDatabase({
    db: TEST_DATABASE,
    dataDir: null,
    projectRoot: folder,
    log: () => {},
  });
  try {
    const sql = createSql(database.url, { maxConnections: 1, applicationName: "types" });
    await insertProject(sql, schema);
    await sql.end();
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        join(PROJECT_ROOT, "client/command/main.ts"),
        "types",
        "--db",
        database.url,
      ],
      cwd: folder,
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  } finally {
    await database.stop();
  }
}

async function insertProject(sql: Sql, schema: string): Promise<void> {
  await sql.unsafe(`set search_path = ${schema}`);
  await sql`
    insert into agents (name, slug, system_prompt, input_schema, output_schema)
    values ('Writer', 'writer', 'Write.', ${sql.json(AGENT.input)}, ${sql.json(AGENT.output)})`;
  await sql`
    insert into tools (name, slug, type, config) values
      ('Swarm', 'swarm', 'internal', '{"server": "swarm"}'),
      ('Weather', 'weather', 'mcp_server', '{"mcp_url": "https://weather.example/mcp"}'),
      ('Stock', 'stock', 'http_api', ${sql.json(STOCK)})`;
  await sql`
    with connection as (
      insert into agent_mcp_connections (tool_id, config_hash)
      select id, '' from tools where slug = 'weather' returning id
    )
    insert into mcp_tools_cache (connection_id, tool_name, tool_schema, openai_schema)
    select id, 'forecast', ${sql.json(FORECAST)}, '{}' from connection`;
}

interface TypeProblem {
  /** Below the root. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** What the type check finds in the programs of all folders. */
async function typeProblems(root: string): Promise<TypeProblem[]> {
  await Deno.writeTextFile(join(root, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  const programs = INSTALLED_SCHEMAS.flatMap((schema) =>
    ["page", "right", "wrong"].map((name) => `${schema}/${name}.ts`)
  );
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", ...programs],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  const report = new TextDecoder().decode(stderr);
  const blocks = report.split(/^(?=TS\d+ \[ERROR\])/m).slice(1);
  assert.ok(blocks.length > 0, report);
  return blocks.map((text) => {
    const [, path = "", line = ""] = /at file:\/\/(\S+):(\d+):\d+/.exec(text) ?? [];
    return { path: relative(root, path), line: Number(line), text };
  });
}
