/** `deno task env:generate`: writes `.env.example` from the declared variables. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { envExample } from "./environment/env_example.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";

const FILE = ".env.example";

await runCommand({
  name: "deno task env:generate",
  summary: `Writes ${FILE} from the declared variables.`,
  options: { check: { type: "boolean", help: "Writes nothing; fails when it is not up to date." } },
}, async ({ values }) => {
  const path = join(PROJECT_ROOT, FILE);
  const wanted = envExample();
  if (await Deno.readTextFile(path).catch(() => "") === wanted) return;
  if (values.check) throw new Error(`${FILE} is out of date; run deno task env:generate`);
  await Deno.writeTextFile(path, wanted);
  writeLine(`Wrote ${FILE}`);
});
