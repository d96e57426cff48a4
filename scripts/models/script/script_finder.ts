import { basename, join } from "node:path";
import type { YamlModule } from "../../deps.ts";
import type { FindAgent } from "../model_server.ts";
import { MissingScript, ScriptError } from "../script_error.ts";
import type { ScriptedAgent } from "../scripted_agent.ts";
import { playScript } from "./play_script.ts";
import { readScript } from "./read_script.ts";

/** Where scripts are, and whose requests they answer. */
export interface ScriptSources {
  /** The folder of the agents' files. */
  readonly folder: string;
  /** Agents that a program plays, unless a file does. */
  readonly programs: readonly ScriptedAgent[];
  /** Returns the slugs of the agents to which a system prompt belongs. */
  readonly agentsOf: (system: string) => Promise<readonly string[]>;
  readonly yaml: YamlModule;
}

/**
 * Creates the search for the script of a request: `<slug>.script.yaml` in the folder of the agents,
 * read anew each time.
 */
export function createScriptFinder(
  { folder, programs, agentsOf, yaml }: ScriptSources,
): FindAgent {
  return async ({ system }) => {
    const slugs = await agentsOf(system);
    const found = await Promise.all(slugs.map(findAgent));
    const [agent, ...others] = found.filter((one) => one !== undefined);
    if (agent === undefined) throw missingScript(slugs);
    if (others.length === 0) return agent;
    const names = [agent, ...others].map(({ name }) => name).join(" and ");
    throw new ScriptError(
      `the agents ${names} have the same prompt, so it is not known whose script answers. Change ` +
        "the prompt of one",
    );
  };

  async function findAgent(slug: string): Promise<ScriptedAgent | undefined> {
    const fileName = fileNameOf(slug);
    const text = await readOptional(join(folder, fileName));
    if (text === null) return programs.find(({ name }) => name === slug);
    return {
      name: slug,
      plays: () => true,
      answer: (request) =>
        playScript(readScript(text, `${basename(folder)}/${fileName}`, yaml), request),
    };
  }

  function missingScript(slugs: readonly string[]): MissingScript {
    const files = slugs.map((slug) => `${basename(folder)}/${fileNameOf(slug)}`).join(" or ");
    return new MissingScript(
      slugs.length === 0
        ? "the system prompt of the request is that of no agent"
        : `the agent ${slugs.join(" or ")} has no script. Write ${files}`,
    );
  }
}

function fileNameOf(slug: string): string {
  return `${slug}.script.yaml`;
}

async function readOptional(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
