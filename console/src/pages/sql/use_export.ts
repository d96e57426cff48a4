import { showSuccess } from "../../app/toasts.ts";
import { downloadBlob } from "../../format/download.ts";
import { formatCount } from "../../format/numbers.ts";
import { projectClient } from "../../project/project_client.ts";
import { statementAnswer } from "./statement_answer.ts";
import type { SqlWork, StatementArguments } from "./use_sql_work.ts";

const BUCKET = "supaswarm-data";

export type ExportFormat = "csv" | "json";

/**
 * Returns the action that exports all rows of a read, more than an answer contains: to a file in
 * the user's folder, which is then downloaded.
 */
export function useExport(
  work: SqlWork,
): (given: StatementArguments, format: ExportFormat) => Promise<void> {
  return (given, format) =>
    work.start("exporting", async () => {
      const result = await work.call("execute_sql", { ...given, dry_run: false, export: format });
      const { file, row_count: count } = statementAnswer(result);
      if (file === undefined) return;
      const { data, error } = await projectClient().storage.from(BUCKET).download(file.path);
      if (error !== null) throw error;
      downloadBlob(data, file.path.split("/").at(-1) ?? `rows.${format}`);
      showSuccess(`Exported ${formatCount(count)} rows`);
    });
}
