import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "../../shared/vendor/zod.js";
import { EDGE_DENO, runEdgeDeno } from "./edge_deno.ts";

const MEASURED = z.object({ wallMs: z.number(), cpuMs: z.number().nullable() });

/** What it takes to import a function in a new process, all its files being in the disk's cache. */
export interface ColdImport {
  readonly wallMs: number;
  /** Null where the operating system does not tell. */
  readonly cpuMs: number | null;
}

/** The first run transpiles. */
const MIN_RUNS = 6;
/** CPU time grows as well while other programs compete for caches and cores. */
const MAX_RUNS = 40;

/** Names that a function must find in its environment, with values of the right form. */
const ENVIRONMENT = {
  SUPABASE_URL: "http://127.0.0.1:1",
  SUPABASE_DB_URL: "postgres://nobody:nothing@127.0.0.1:1/nothing",
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_none"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_none"}',
  SUPABASE_JWKS: '{"keys":[]}',
};

/**
 * Imports a function's entry several times, each in a new process of the edge runtime's Deno, with
 * no compiled code to go by, and returns the quickest run, which is the one that other programs of
 * the machine disturbed least.
 *
 * @param enoughMs A function that is slower is measured again, in case the machine was busy.
 * @throws Error when the function cannot be imported.
 */
export async function measureColdImport(
  projectRoot: string,
  entry: string,
  enoughMs: number,
): Promise<ColdImport> {
  const args = [
    "run",
    "--allow-all",
    "--no-lock",
    "--no-code-cache",
    "--quiet",
    "--config",
    join(projectRoot, "deno.json"),
    new URL("import_function.ts", import.meta.url).href,
    pathToFileURL(join(projectRoot, entry)).href,
  ];
  let best: ColdImport | null = null;
  for (let run = 1; run <= MAX_RUNS; run++) {
    const { succeeded, stdout, stderr } = await runEdgeDeno(projectRoot, args, ENVIRONMENT);
    if (!succeeded) throw new Error(`${EDGE_DENO} cannot import ${entry}:\n${stderr}`);
    const measured = MEASURED.parse(JSON.parse(stdout));
    if (best === null || costOf(measured) < costOf(best)) best = measured;
    if (run >= MIN_RUNS && costOf(best) < enoughMs) break;
  }
  if (best === null) throw new Error("No run was measured");
  return best;
}

/** CPU time, which other work on the machine does not add to; else time on the clock. */
export function costOf({ cpuMs, wallMs }: ColdImport): number {
  return cpuMs ?? wallMs;
}
