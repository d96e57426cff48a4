import type { StatementClass } from "../../shared/sql/verdict.ts";
import { readReferenceData } from "../../scripts/bench/reference_files.ts";

/** A labeled statement of the reference corpus. */
export interface CorpusEntry {
  readonly id: string;
  readonly category: string;
  readonly kind: StatementClass;
  readonly sql: string;
  readonly why: string;
}

/** The labeled statements next to the checkout; null if there are none. */
export async function readSqlCorpus(): Promise<readonly CorpusEntry[] | null> {
  const bytes = await readReferenceData("sql_corpus.json");
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
}
