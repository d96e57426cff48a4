/** `deno task types:generate`: writes the types that the database decides. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";
import { generateTypes } from "./types/generate_types.ts";

const TARGET = "shared/db/database.types.ts";

await runCommand(
  {
    name: "deno task types:generate",
    summary: `Writes ${TARGET} from an embedded database with all migrations.`,
    options: {
      check: { type: "boolean", help: "Writes nothing; fails when the file is not up to date." },
    },
  },
  async ({ values }) => {
    const path = join(PROJECT_ROOT, TARGET);
    const wanted = await generateTypes(PROJECT_ROOT);
    const current = await Deno.readTextFile(path).catch(() => "");
    if (current === wanted) return writeLine(`${TARGET} is up to date`);
    if (values.check) {
      throw new Error(`${TARGET} is not what the migrations make; run deno task types:generate`);
    }
    await Deno.writeTextFile(path, wanted);
    writeLine(`Wrote ${TARGET}`);
  },
);
