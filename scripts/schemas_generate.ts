/** `deno task schemas:generate`: writes the JSON Schemas that are generated from zod. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { configSchemasMigration } from "./schemas/config_schemas_migration.ts";
import { writeLine } from "./terminal.ts";

const MIGRATION = "supabase/migrations/20261101000190_config_schemas.sql";

await runCommand(
  {
    name: "deno task schemas:generate",
    summary: `Writes ${MIGRATION} from the schemas in shared/.`,
    options: {
      check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
    },
  },
  async ({ values }) => {
    const wanted = { [MIGRATION]: configSchemasMigration() };
    for (const [name, text] of Object.entries(wanted)) {
      const path = join(PROJECT_ROOT, name);
      if (await Deno.readTextFile(path).catch(() => "") === text) continue;
      if (values.check) throw new Error(`${name} is out of date. Run deno task schemas:generate`);
      await Deno.writeTextFile(path, text);
      writeLine(`Wrote ${name}`);
    }
  },
);
