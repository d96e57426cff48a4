import { errorCodesSource, errorsPage, unexplainedCodes } from "../errors/error_tables.ts";
import { type GeneratedFiles, readCurrent } from "./generated_files.ts";

const PAGE = "docs/errors.md";

/**
 * The SQL and the table of the error codes, from `shared/platform/errors/codes.ts`.
 *
 * @throws Error if the page explains a code nowhere.
 */
export async function errorFiles(): Promise<GeneratedFiles> {
  const page = errorsPage(await readCurrent(PAGE));
  const unexplained = unexplainedCodes(page);
  if (unexplained.length > 0) throw new Error(unexplained.join("\n"));
  return { "supabase/schemas/platform/error_codes.sql": errorCodesSource(), [PAGE]: page };
}
