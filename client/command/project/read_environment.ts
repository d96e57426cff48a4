import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { readOptional } from "./read_files.ts";
import type { Environment } from "./running_stack.ts";

/** The variables of the project's `.env` and of this process, which win. Empty ones count as unset. */
export async function readEnvironment(root: string): Promise<Environment> {
  const fromFile = parseEnv(await readOptional(join(root, ".env")) ?? "");
  return Object.fromEntries(
    [...Object.entries(fromFile), ...Object.entries(process.env)].filter(([, value]) => value),
  );
}
