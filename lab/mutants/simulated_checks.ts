/** `simulated_checks.ts NAMES`: runs worlds on mutants of the SQL. */
import { openWorldDatabase } from "../simulation/open_world_database.ts";
import { patchOf } from "./apply_sql_mutant.ts";
import { firstViolation } from "./first_violation.ts";
import { nameOf, type SqlMutant } from "./mutant.ts";
import { SQL_MUTANTS } from "./sql_mutants.ts";
import { askedFor, writeVerdict } from "./verdict.ts";

const database = await openWorldDatabase();
const problem = await firstViolation(database);
if (problem !== null) throw new Error(`The check fails without a mutant: ${problem}`);
for (const mutant of askedFor(SQL_MUTANTS)) {
  const patch = patchOf(mutant, await definitionOf(mutant));
  await write(patch.apply);
  writeVerdict({
    name: nameOf(mutant),
    check: "simulation",
    noticedBy: await firstViolation(database),
  });
  await write(patch.undo);
}
Deno.exit(0);

/** The witness stands before some functions. */
async function definitionOf({ sqlFunction }: SqlMutant): Promise<string> {
  const [row] = await database.query(
    `select pg_get_functiondef(oid) as definition from pg_proc
     where pronamespace = 'private'::regnamespace
       and proname in ($1, $1 || '_unseen') order by proname desc limit 1`,
    [sqlFunction],
    "definition",
  ) as { definition: string }[];
  return row?.definition ?? "";
}

async function write(sql: string): Promise<void> {
  database.reset();
  await database.run(sql);
  database.keep();
}
