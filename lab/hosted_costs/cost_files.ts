import { type GeneratedFiles, readCurrent } from "../../scripts/generate/generated_files.ts";
import { formatText } from "../../scripts/markdown/format_text.ts";
import { costsPage } from "./costs_page.ts";
import { figure, type Figures, jobCost } from "./job_cost.ts";
import { NEW_PROJECT_BYTES } from "./plans.ts";

const PAGE = "docs/reference/costs.md";

/** What jobs cost on hosted Supabase, from the saved benchmarks. */
export async function costFiles(): Promise<GeneratedFiles> {
  const saved = JSON.parse(await readCurrent("docs/benchmarks.json"));
  const figures = (name: string): Figures => saved[name]?.figures ?? {};
  const job = jobCost({ jobBytes: figures("job_bytes"), realtime: figures("realtime") });
  const emptyBytes = figure(figures("job_bytes"), "empty_bytes");
  const page = costsPage(await readCurrent(PAGE), job, NEW_PROJECT_BYTES + emptyBytes);
  return { [PAGE]: await formatText(page, "md") };
}
