import { basename, join } from "node:path";
import type { YamlModule } from "../../deps.ts";
import type { FindAgent } from "../model_server.ts";
import { MissingScript } from "../script_error.ts";
import type { ScriptedAgent } from "../scripted_agent.ts";
import { playScript } from "./play_script.ts";
import { readScript } from "./read_script.ts";

/** Where scripts are, and whose requests they answer. */
export interface ScriptSources {
  /** The folder of the agents' files. */
  readonly folder: string;
  /** Agents that a program plays, unless a file does. */
  readonly programs: readonly ScriptedAgent[];
  readonly yaml: YamlModule;
}

/**
 * Creates the search for the script of a request: `<slug>.script.yaml` of the agent that asks,
 * whatever its prompt, read anew each time.
 */
export function createScriptFinder({ folder, programs, yaml }: ScriptSources): FindAgent {
  return async ({ agent: slug }) => {
    if (slug === null) {
      throw new MissingScript("only agents have scripts, and this request is for a tool");
    }
    const file = basename(`${slug}.script.yaml`);
    const text = await readOptional(join(folder, file));
    const fileName = `${basename(folder)}/${file}`;
    const program = programs.find(({ name }) => name === slug);
    if (text === null && program !== undefined) return program;
    if (text === null) {
      throw new MissingScript(`the agent ${slug} has no script. Write ${fileName}`);
    }
    return {
      name: slug,
      plays: () => true,
      answer: (request) => playScript(readScript(text, fileName, yaml), request),
    };
  };
}

async function readOptional(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
