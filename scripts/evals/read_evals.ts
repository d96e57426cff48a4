import { join } from "node:path";
import { nearestNames } from "../../shared/platform/values/nearest_names.ts";
import { CommandError } from "../cli/run_command.ts";
import type { YamlModule } from "../deps.ts";
import { readEvalsFile } from "./read_evals_file.ts";
import type { AgentEvals } from "./run_evals.ts";

const SUFFIX = ".evals.yaml";

/** The file with the tests of an agent. */
export function evalsFileName(agent: string): string {
  return `${agent}${SUFFIX}`;
}

/**
 * Reads the evals of agents in a folder.
 *
 * @param agents None: all that have a file.
 * @throws CommandError when an agent has no file; YamlFileError for a file that is not valid.
 */
export async function readEvals(
  folder: string,
  agents: readonly string[],
  yaml: YamlModule,
): Promise<readonly AgentEvals[]> {
  const known: string[] = [];
  const named: string[] = [];
  try {
    for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
      if (isFile && name.endsWith(SUFFIX)) known.push(name.slice(0, -SUFFIX.length));
      else if (isDirectory || name.endsWith(".md")) named.push(name.replace(/\.md$/, ""));
    }
  } catch (cause) {
    throw new CommandError(
      `Cannot read ${folder}: it is not a readable folder. Run the command in the project's folder`,
      { cause },
    );
  }
  for (const agent of agents) {
    if (known.includes(agent)) continue;
    const [nearest] = nearestNames(agent, [...known, ...named], 1);
    throw new CommandError(
      `Cannot run the evals of ${agent}: ${folder} has no ${evalsFileName(agent)}.` +
        (nearest === undefined || nearest === agent ? "" : ` Did you mean ${nearest}?`),
    );
  }
  if (known.length === 0) {
    throw new CommandError(
      `Cannot run evals: ${folder} has none. Write ${evalsFileName("writer")} for the agent writer`,
    );
  }
  return await Promise.all(
    (agents.length === 0 ? known.sort() : agents).map(async (agent) => {
      const fileName = evalsFileName(agent);
      const text = await Deno.readTextFile(join(folder, fileName));
      return { agent, tests: readEvalsFile(text, fileName, yaml) };
    }),
  );
}
