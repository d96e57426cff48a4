/** `deno task log-events:generate`: writes the page of the log's events. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { formatText } from "./markdown/format_text.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { logEventsPage } from "./reference/log_events_page.ts";
import { writeLine } from "./terminal.ts";

const PAGE = "docs/reference/log-events.md";

await runCommand({
  name: "deno task log-events:generate",
  summary: `Writes ${PAGE} from shared/platform/log/log_events.ts.`,
  options: {
    check: { type: "boolean", help: "Write nothing; fail if the page is not up to date." },
  },
}, async ({ values }) => {
  const path = join(PROJECT_ROOT, PAGE);
  const wanted = await formatText(logEventsPage(), "md");
  if (await Deno.readTextFile(path).catch(() => "") === wanted) return;
  if (values.check) throw new Error(`${PAGE} is out of date. Run deno task log-events:generate`);
  await Deno.writeTextFile(path, wanted);
  writeLine(`Wrote ${PAGE}`);
});
