import type { StatementClass } from "../../shared/servers/sql/verdict.ts";
import { readReferenceData } from "../../lab/bench/reference_files.ts";

/** A labeled statement of the reference corpus. */
export interface CorpusEntry {
  readonly id: string;
  readonly category: string;
  readonly kind: StatementClass;
  readonly sql: string;
  readonly why: string;
}

/** Entries that the guard refuses although the corpus does not, with the reason. */
const STRICTER: ReadonlyMap<string, StatementClass> = new Map([
  // The size of a relation depends on rows that the caller may not see.
  ["A405", "forbidden"],
  // No timeout interrupts XMLTABLE.
  ["A419", "forbidden"],
]);

/** The labeled statements next to the checkout; null if there are none. */
export async function readSqlCorpus(): Promise<readonly CorpusEntry[] | null> {
  const bytes = await readReferenceData("sql_corpus.json");
  if (bytes === null) return null;
  const entries: CorpusEntry[] = JSON.parse(new TextDecoder().decode(bytes));
  return entries.map((entry) => ({ ...entry, kind: STRICTER.get(entry.id) ?? entry.kind }));
}
