import { join } from "node:path";
import { EDGE_DENO, runEdgeDeno } from "./edge_deno.ts";
import { moduleGraph } from "./module_graph.ts";

/** APIs that the edge runtime lacks or blocks, in addition to those its older Deno lacks. */
const BLOCKED: readonly RegExp[] = [
  /\bDeno\.(Command|exit|kill|addSignalListener|dlopen|run)\b/,
  /\bDeno\.\w+Sync\b/,
  /\bDeno\.(rename|copyFile|chmod|chown|symlink|link|utime|truncate|watchFs)\b/,
  /\bnew Worker\((new URL|["'`])/,
  /\bwith\s*\{\s*type:\s*"(text|bytes)"/,
];

/**
 * Checks the functions' types with the edge runtime's Deno, that no blocked API is used, and that
 * signals arrive in spite of its fault.
 */
export async function checkEdgeRuntime(
  projectRoot: string,
  functionNames: readonly string[],
): Promise<string[]> {
  const entries = functionNames.map((name) => `supabase/functions/${name}/index.ts`);
  // The lock file's format is newer than this Deno.
  const { succeeded, stderr } = await runEdgeDeno(projectRoot, ["check", "--no-lock", ...entries]);
  const problems = succeeded ? [] : [`${EDGE_DENO} check:\n${stderr}`];
  problems.push(...await checkSignals(projectRoot));

  const paths = new Set<string>();
  for (const entry of entries) {
    for (const { path } of await moduleGraph(projectRoot, entry)) paths.add(path);
  }
  for (const path of paths) {
    const source = await Deno.readTextFile(join(projectRoot, path));
    for (const pattern of BLOCKED) {
      const found = source.match(pattern);
      if (found) problems.push(`${path} uses ${found[0]}, which the edge runtime does not allow`);
    }
  }
  return problems;
}

async function checkSignals(projectRoot: string): Promise<string[]> {
  const program = "scripts/deploy/combined_signal.ts";
  const args = ["run", "--no-lock", "--v8-flags=--expose-gc", program];
  const { stdout, stderr } = await runEdgeDeno(projectRoot, args);
  if (stdout === "heard") return [];
  return [`A combined abort signal was lost: ${program} printed ${stdout || stderr}`];
}
