/** `deno task costs:generate`: writes what jobs cost on hosted Supabase into the documentation. */
import { join } from "node:path";
import { runCommand } from "../scripts/cli/run_command.ts";
import { formatText } from "../scripts/markdown/format_text.ts";
import { PROJECT_ROOT } from "../scripts/project_root.ts";
import { writeLine } from "../scripts/terminal.ts";
import { costsPage } from "./hosted_costs/costs_page.ts";
import { NEW_PROJECT_BYTES } from "./hosted_costs/plans.ts";
import { figure, type Figures, jobCost } from "./hosted_costs/job_cost.ts";

const PAGE = "docs/reference/costs.md";
const BENCHMARKS = "docs/benchmarks.json";

await runCommand({
  name: "deno task costs:generate",
  summary: `Writes the tables of ${PAGE} from the figures in ${BENCHMARKS}.`,
  options: {
    check: { type: "boolean", help: "Write nothing; fail if the page is not up to date." },
  },
}, async ({ values }) => {
  const path = join(PROJECT_ROOT, PAGE);
  const saved = JSON.parse(await Deno.readTextFile(join(PROJECT_ROOT, BENCHMARKS)));
  const figures = (name: string): Figures => saved[name]?.figures ?? {};
  const job = jobCost({ jobBytes: figures("job_bytes"), realtime: figures("realtime") });
  const page = await Deno.readTextFile(path);
  const wanted = await formatText(
    costsPage(page, job, NEW_PROJECT_BYTES + figure(figures("job_bytes"), "empty_bytes")),
    "md",
  );
  if (page === wanted) return;
  if (values.check) throw new Error(`${PAGE} is out of date. Run deno task costs:generate`);
  await Deno.writeTextFile(path, wanted);
  writeLine(`Wrote ${PAGE}`);
});
