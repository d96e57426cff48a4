import { formatText } from "../markdown/format_text.ts";
import { logEventsPage } from "../reference/log_events_page.ts";
import type { GeneratedFiles } from "./generated_files.ts";

/** The page of the log's events, from `shared/platform/log/log_events.ts`. */
export async function logEventFiles(): Promise<GeneratedFiles> {
  return { "docs/reference/log-events.md": await formatText(logEventsPage(), "md") };
}
