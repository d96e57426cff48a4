import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "../../shared/vendor/zod.js";
import { EDGE_DENO, runEdgeDeno } from "./edge_deno.ts";

const MEASURED = z.object({ wallMs: z.number(), cpuMs: z.number().nullable() });

/** The time to import a function in a new process, with all its files in the disk cache. */
export interface ColdImport {
  readonly wallMs: number;
  /** Null where the operating system does not report it. */
  readonly cpuMs: number | null;
}

/** The first run transpiles. */
const MIN_RUNS = 3;
/** CPU time also grows while other programs compete for caches and cores. */
const MAX_RUNS = 40;

/** Required environment variables of a function, with valid values. */
const ENVIRONMENT = {
  SUPABASE_URL: "http://127.0.0.1:1",
  SUPABASE_DB_URL: "postgres://nobody:nothing@127.0.0.1:1/nothing",
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_none"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_none"}',
  SUPABASE_JWKS: '{"keys":[]}',
};

/**
 * Imports a function's entry several times, each in a new process of the edge runtime's Deno
 * without compiled code. Returns the fastest run, which other programs of the machine disturbed
 * least.
 *
 * @param enoughMs A slower function is measured again, in case the machine was busy.
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
  if (best === null) throw new Error("Cannot measure the import: there was no run");
  return best;
}

/** Returns the CPU time, which excludes other programs, or the wall-clock time if it is unknown. */
export function costOf({ cpuMs, wallMs }: ColdImport): number {
  return cpuMs ?? wallMs;
}
