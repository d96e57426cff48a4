import { basename, dirname, join, relative } from "node:path";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { splitStatements } from "../../../stack/migrations/split_statements.ts";

const FOLDER = new URL("../../../supabase/tests/", import.meta.url).pathname;

/** One file of pgTAP tests. */
export interface PgtapFile {
  /** From the root of the project. */
  readonly path: string;
  /** The tested function and what is claimed of it: `hold_task/keeps a recent lease`. */
  readonly claim: string;
  /** The tested function. Empty for the factories. */
  readonly folder: string;
  readonly sql: string;
}

/** Every pgTAP file of the project, in the order in which they run; the factories come first. */
export async function pgtapFiles(folder: string = FOLDER): Promise<PgtapFile[]> {
  const files: PgtapFile[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) files.push(...await pgtapFiles(path));
    else if (entry.name.endsWith(".sql")) {
      const place = relative(FOLDER, path);
      const [tested = "", ...rest] = place.split("/");
      files.push({
        path: `supabase/tests/${place}`,
        claim: join(dirname(place), basename(place, ".sql").replaceAll("_", " ")),
        folder: rest.length === 0 ? "" : tested,
        sql: await Deno.readTextFile(path),
      });
    }
  }
  return files.sort((a, b) => a.claim < b.claim ? -1 : 1);
}

/**
 * Runs files as steps of a test, the factories first.
 *
 * @param connection A pool of one connection, since a file is one transaction.
 */
export async function runPgtapFiles(
  test: Deno.TestContext,
  connection: Sql,
  files: readonly PgtapFile[],
): Promise<void> {
  const [factories, ...others] = files;
  if (factories === undefined) throw new Error("There are no pgTAP files");
  await test.step(factories.claim, () => runPgtapFile(connection, factories));
  await keepPgtapTables(connection);
  for (const file of others) {
    await test.step(file.claim, () => runPgtapFile(connection, file));
  }
}

/**
 * Creates pgTAP's temporary objects once for the session. Otherwise each file creates them, which
 * takes a quarter of the CPU time of all files on PGlite.
 */
export async function keepPgtapTables(connection: Sql): Promise<void> {
  await connection.begin(async (transaction) => {
    await transaction`set local search_path = public, extensions`;
    await transaction`select plan(1)`;
    await transaction`delete from pg_temp.__tcache__`;
  });
}

/**
 * Runs one file statement by statement, as psql does, and throws an error with pgTAP's output
 * if an assertion failed or the plan did not match.
 */
export async function runPgtapFile(connection: Sql, file: PgtapFile): Promise<void> {
  const lines: string[] = [];
  // A rollback does not reset the sequence of test numbers, which an earlier file may have used.
  await connection`
    select setval(numbers, 1, false)
    from to_regclass('pg_temp.__tresults___numb_seq') as numbers where numbers is not null`;
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
