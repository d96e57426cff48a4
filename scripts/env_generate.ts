/** `deno task env:generate`: writes the documentation of the declared environment variables. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { envExample } from "./environment/env_example.ts";
import { environmentPage } from "./environment/environment_page.ts";
import { formatText } from "./markdown/format_text.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";

const EXAMPLE = ".env.example";
const PAGE = "docs/reference/environment.md";

await runCommand({
  name: "deno task env:generate",
  summary: `Writes ${EXAMPLE} and the tables of ${PAGE} from the declared variables.`,
  options: {
    check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
  },
}, async ({ values }) => {
  const page = await Deno.readTextFile(join(PROJECT_ROOT, PAGE));
  const wanted = { [EXAMPLE]: envExample(), [PAGE]: await formatText(environmentPage(page), "md") };
  for (const [name, text] of Object.entries(wanted)) {
    const path = join(PROJECT_ROOT, name);
    if (await Deno.readTextFile(path).catch(() => "") === text) continue;
    if (values.check) throw new Error(`${name} is out of date. Run deno task env:generate`);
    await Deno.writeTextFile(path, text);
    writeLine(`Wrote ${name}`);
  }
});
