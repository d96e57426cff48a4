/** `deno task types:generate`: writes the types, closed sets and reference page of the database. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";
import { generateFromDatabase } from "./types/generate_from_database.ts";

const TYPES = "shared/platform/db/database.types.ts";
const SETS = "shared/platform/db/closed_sets.ts";
const CONTRACT = "client/platform_contract.ts";
const PAGE = "docs/reference/tables.md";

await runCommand(
  {
    name: "deno task types:generate",
    summary:
      `Writes ${TYPES}, ${SETS}, ${CONTRACT} and ${PAGE} from an embedded database with the release.`,
    options: {
      check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
    },
  },
  async ({ values }) => {
    const generated = await generateFromDatabase(PROJECT_ROOT);
    const wanted = {
      [TYPES]: generated.types,
      [SETS]: generated.closedSets,
      [CONTRACT]: generated.clientContract,
      [PAGE]: generated.tablesPage,
    };
    for (const [name, text] of Object.entries(wanted)) {
      const path = join(PROJECT_ROOT, name);
      const current = await Deno.readTextFile(path).catch(() => "");
      if (current === text) {
        writeLine(`${name} is up to date`);
        continue;
      }
      if (values.check) {
        throw new Error(`${name} does not match the release. Run deno task types:generate`);
      }
      await Deno.writeTextFile(path, text);
      writeLine(`Wrote ${name}`);
    }
  },
);
