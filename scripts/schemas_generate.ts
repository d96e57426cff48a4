/** `deno task schemas:generate`: writes what is generated from zod schemas and from agents/. */
import { dirname, join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { readDefinitions } from "../shared/engine/definitions/read_definitions.ts";
import { loadYaml } from "./deps.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readFolder } from "./push/read_folder.ts";
import { configSchemasMigration } from "./schemas/config_schemas_migration.ts";
import { fileJsonSchemas } from "./schemas/file_json_schemas.ts";
import { withSeededDefinitions } from "./schemas/seeded_definitions.ts";
import { writeLine } from "./terminal.ts";

const SOURCE = "supabase/schemas/gateway/config_schemas.sql";
const SEED = "supabase/seed.sql";
const FOLDER = "agents";

await runCommand(
  {
    name: "deno task schemas:generate",
    summary:
      `Writes ${SOURCE} and ${FOLDER}/schemas from the schemas in shared/, and ${SEED} from ${FOLDER}/.`,
    options: {
      check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
    },
  },
  async ({ values }) => {
    const seed = await Deno.readTextFile(join(PROJECT_ROOT, SEED));
    const wanted = {
      [SOURCE]: configSchemasMigration(),
      [SEED]: withSeededDefinitions(seed, await demoDefinitions()),
      ...Object.fromEntries(
        Object.entries(fileJsonSchemas()).map((
          [name, text],
        ) => [`${FOLDER}/schemas/${name}`, text]),
      ),
    };
    for (const [name, text] of Object.entries(wanted)) {
      const path = join(PROJECT_ROOT, name);
      if (await Deno.readTextFile(path).catch(() => "") === text) continue;
      if (values.check) throw new Error(`${name} is out of date. Run deno task schemas:generate`);
      await Deno.mkdir(dirname(path), { recursive: true });
      await Deno.writeTextFile(path, text);
      writeLine(`Wrote ${name}`);
    }
  },
);

async function demoDefinitions() {
  const { parse } = await loadYaml();
  const files = await readFolder(join(PROJECT_ROOT, FOLDER));
  const { definitions, problems } = readDefinitions(files, (text) => parse(text));
  if (problems.length === 0) return definitions;
  throw new Error(problems.map(({ path, message }) => `${FOLDER}/${path}: ${message}`).join("\n"));
}
