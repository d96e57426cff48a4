import { join, relative } from "node:path";
import type { Sql } from "../../shared/db/sql_client.ts";
import { splitStatements } from "../../stack/migrations/split_statements.ts";

const FOLDER = new URL("../../supabase/tests/", import.meta.url).pathname;

/** One file of pgTAP tests; `claim` is its path without the extension. */
export interface PgtapFile {
  readonly claim: string;
  readonly sql: string;
}

/** Every pgTAP file of the project, in the order in which they run; the factories come first. */
export async function pgtapFiles(folder: string = FOLDER): Promise<PgtapFile[]> {
  const files: PgtapFile[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) files.push(...await pgtapFiles(path));
    else if (entry.name.endsWith(".sql")) {
      const claim = relative(FOLDER, path).replace(/\.sql$/, "").replaceAll("_", " ");
      files.push({ claim, sql: await Deno.readTextFile(path) });
    }
  }
  return files.sort((a, b) => a.claim < b.claim ? -1 : 1);
}

/**
 * Runs one file statement by statement, as psql does, and throws an error with pgTAP's output
 * if an assertion failed or the plan did not match.
 *
 * @param connection A pool of one connection, since a file is one transaction.
 */
export async function runPgtapFile(connection: Sql, file: PgtapFile): Promise<void> {
  const lines: string[] = [];
  try {
    for (const { text } of splitStatements(file.sql)) {
      for (const row of await connection.unsafe<Record<string, unknown>[]>(text)) {
        for (const value of Object.values(row)) if (typeof value === "string") lines.push(value);
      }
    }
  } finally {
    // A failed file leaves its transaction open; a successful one has rolled back.
    await connection.unsafe("rollback");
  }
  const isTrouble = (line: string) => /^(not ok|# (Failed|Looks like))/m.test(line);
  if (lines.some(isTrouble)) throw new Error(lines.filter((line) => !/^ok /.test(line)).join("\n"));
  if (!lines.some((line) => /^ok /m.test(line))) throw new Error("The file asserts nothing");
}
