import { type PgtapFile, pgtapFiles, runPgtapFile } from "../../tests/platform/pgtap/pgtap.ts";
import { keepPgtapTables } from "../../tests/platform/pgtap/pgtap.ts";
import { startMigratedServer } from "../../tests/postgres/native_server.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { compareWithNative, prepareComparisons } from "../model/compare_with_native.ts";
import { patchOf } from "./apply_sql_mutant.ts";
import { nameOf } from "./mutant.ts";
import { SQL_MUTANTS } from "./sql_mutants.ts";
import { writeVerdict } from "./verdict.ts";

const PROGRAMS = 8;
const STEPS = 250;
/** A fault may let a program wait for ever. */
const MAX_MS = 300_000;

/** Runs the model and the pgTAP files that are about each mutant of the SQL on native Postgres. */
/** Parts of names. */
const only = Deno.args.length > 0 ? Deno.args : [""];
const server = await startMigratedServer();
const pgtap = createSql(server.cluster.url, { maxConnections: 1, applicationName: "pgtap" });
const files = await pgtapFiles();
const [factories] = files;
if (factories !== undefined) await runPgtapFile(pgtap, factories);
await keepPgtapTables(pgtap);
await prepareComparisons(server.sql);
for (
  const mutant of SQL_MUTANTS.filter((each) => only.some((part) => nameOf(each).includes(part)))
) {
  const { sqlFunction, pgtap: folders = [sqlFunction] } = mutant;
  const patch = patchOf(mutant, await definitionOf(server.sql, sqlFunction));
  await server.sql.unsafe(patch.apply);
  const related = files.filter(({ folder }) => folders.includes(folder));
  const tests = await inTime(() => noteByTests(related));
  const model = await inTime(noteByModel);
  await server.sql.unsafe(patch.undo);
  writeVerdict({ name: nameOf(mutant), ...definedOnly({ tests, model }) });
}
await pgtap.end({ timeout: 1 });
await server[Symbol.asyncDispose]();
Deno.exit(0);

async function definitionOf(sql: Sql, name: string): Promise<string> {
  const [row] = await sql`
    select pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'private'::regnamespace and proname = ${name}`;
  return String(row?.definition);
}

async function noteByModel(): Promise<string | null> {
  const { cluster: { url }, sql, admin } = server;
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const { difference } = await compareWithNative({ url, sql, admin, seed, steps: STEPS });
    if (difference !== null) return `seed ${seed}: ${difference}`;
  }
  return null;
}

async function noteByTests(related: readonly PgtapFile[]): Promise<string | null> {
  await server.sql`delete from public.tasks`;
  for (const file of related) {
    try {
      await runPgtapFile(pgtap, file);
    } catch {
      return file.claim;
    }
  }
  return null;
}

/** @returns undefined, which is no verdict, if the check takes too long: the machine may be busy. */
async function inTime(check: () => Promise<string | null>): Promise<string | null | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), MAX_MS);
  });
  try {
    return await Promise.race([late, check().catch((error) => `fails: ${error.message}`)]);
  } finally {
    clearTimeout(timer);
    await server.admin`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'session'`;
  }
}
