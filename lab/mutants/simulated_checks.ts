import { cpuSeconds } from "../simulation/cpu_seconds.ts";
import { openWorldDatabase } from "../simulation/open_world_database.ts";
import { runWorld } from "../simulation/world.ts";
import { patchOf } from "./apply_sql_mutant.ts";
import { nameOf, type SqlMutant } from "./mutant.ts";
import { SQL_MUTANTS } from "./sql_mutants.ts";
import { writeVerdict } from "./verdict.ts";

const SEEDS = 40;
const MAX_CPU_SECONDS = 20;

/** Runs worlds with each mutant of the SQL until one notices it. */
/** Parts of names. */
const only = Deno.args.length > 0 ? Deno.args : [""];
const database = await openWorldDatabase();
for (
  const mutant of SQL_MUTANTS.filter((each) => only.some((part) => nameOf(each).includes(part)))
) {
  writeVerdict({ name: nameOf(mutant), simulation: await noteByWorlds(mutant) });
}
Deno.exit(0);

async function noteByWorlds(mutant: SqlMutant): Promise<string | null> {
  database.reset();
  const [row] = await database.query(
    `select pg_get_functiondef(oid) as definition from pg_proc
     where pronamespace = 'private'::regnamespace
       and proname in ($1, $1 || '_unseen') order by proname desc limit 1`,
    [mutant.sqlFunction],
    "definition",
  ) as { definition: string }[];
  const patch = patchOf(mutant, row?.definition ?? "");
  await database.run(patch.apply);
  database.keep();
  try {
    const until = cpuSeconds() + MAX_CPU_SECONDS;
    for (let seed = 1; seed <= SEEDS && cpuSeconds() < until; seed++) {
      const { violations: [violation] } = await runWorld(database, seed);
      if (violation !== undefined) return `seed ${seed}: ${violation.name}`;
    }
    return null;
  } catch (error) {
    return `fails: ${error instanceof Error ? error.message : error}`;
  } finally {
    database.reset();
    await database.run(patch.undo);
    database.keep();
  }
}
