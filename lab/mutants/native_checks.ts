/**
 * `native_checks.ts pgtap|model NAMES`: runs the pgTAP files that are about them, or programs of the
 * model, on mutants of the SQL. One native Postgres serves all of them.
 */
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { keepPgtapTables, pgtapFiles, runPgtapFile } from "../../tests/platform/pgtap/pgtap.ts";
import { startMigratedServer } from "../../tests/postgres/native_server.ts";
import { compareWithNative, prepareComparisons } from "../model/compare_with_native.ts";
import { patchOf } from "./apply_sql_mutant.ts";
import { definitionOf } from "./definition_of.ts";
import { nameOf, type SqlMutant } from "./mutant.ts";
import { SQL_MUTANTS } from "./sql_mutants.ts";
import { askedFor, writeVerdict } from "./verdict.ts";

const PROGRAMS = 8;
const STEPS = 250;
/** A fault may let a check wait for ever. */
const MAX_MS = 180_000;

const check = Deno.args[0] === "model" ? "model" : "pgtap";
const server = await startMigratedServer();
const note = check === "model" ? await prepareModel() : await preparePgtap();
const mutants = askedFor(SQL_MUTANTS);
const problem = await note(mutants.flatMap(foldersOf));
if (problem !== null) throw new Error(`The check fails without a mutant: ${problem}`);
for (const mutant of mutants) {
  const patch = patchOf(mutant, await definitionOf(server.sql, mutant.sqlFunction));
  await server.sql.unsafe(patch.apply);
  const noticedBy = await inTime(() => note(foldersOf(mutant)));
  await server.sql.unsafe(patch.undo);
  writeVerdict({ name: nameOf(mutant), check, noticedBy });
}
await server[Symbol.asyncDispose]();
Deno.exit(0);

function foldersOf({ sqlFunction, pgtap = [sqlFunction] }: SqlMutant): readonly string[] {
  return pgtap;
}

async function prepareModel() {
  const { cluster: { url }, sql, admin } = server;
  await prepareComparisons(sql);
  return async () => {
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const { difference } = await compareWithNative({ url, sql, admin, seed, steps: STEPS });
      if (difference !== null) return `seed ${seed}: ${difference}`;
    }
    return null;
  };
}

async function preparePgtap() {
  const [factories, ...files] = await pgtapFiles();
  if (factories === undefined) throw new Error("There are no pgTAP files");
  const url = server.cluster.url;
  return async (folders: readonly string[]) => {
    const sql = createSql(url, { maxConnections: 1, applicationName: "session" });
    try {
      await runPgtapFile(sql, factories);
      await keepPgtapTables(sql);
      for (const file of files.filter(({ folder }) => folders.includes(folder))) {
        const isPassed = await runPgtapFile(sql, file).then(() => true, () => false);
        if (!isPassed) return file.claim;
      }
      return null;
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
}

async function inTime(run: () => Promise<string | null>): Promise<string | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("it waits for ever"), MAX_MS);
  });
  try {
    return await Promise.race([late, run().catch((error) => `fails: ${error.message}`)]);
  } finally {
    clearTimeout(timer);
    await server.admin`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'session'`;
  }
}
