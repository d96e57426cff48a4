/** `deno task errors:generate`: writes the error codes into SQL and the documentation. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { errorCodesSource, errorsPage, unexplainedCodes } from "./errors/error_tables.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";

const SOURCE = "supabase/schemas/platform/error_codes.sql";
const PAGE = "docs/errors.md";

await runCommand(
  {
    name: "deno task errors:generate",
    summary: `Writes ${SOURCE} and the table of ${PAGE} from shared/platform/errors/codes.ts.`,
    options: {
      check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
    },
  },
  async ({ values }) => {
    const page = await Deno.readTextFile(join(PROJECT_ROOT, PAGE));
    const wanted = { [SOURCE]: errorCodesSource(), [PAGE]: errorsPage(page) };
    for (const [name, text] of Object.entries(wanted)) {
      const path = join(PROJECT_ROOT, name);
      const current = await Deno.readTextFile(path).catch(() => "");
      if (current === text) continue;
      if (values.check) throw new Error(`${name} is out of date. Run deno task errors:generate`);
      await Deno.writeTextFile(path, text);
      writeLine(`Wrote ${name}`);
    }
    const unexplained = unexplainedCodes(wanted[PAGE] ?? "");
    if (unexplained.length > 0) throw new Error(unexplained.join("\n"));
  },
);
