import { basename } from "node:path";
import type { DefinitionFile, FileProblem } from "../../shared/engine/definitions/definition.ts";
import { readDefinitions } from "../../shared/engine/definitions/read_definitions.ts";
import { splitFrontMatter } from "../../shared/engine/skills/split_front_matter.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import { CommandError } from "../cli/run_command.ts";
import { loadYaml, type YamlModule } from "../deps.ts";
import { readMcpsFile } from "../mcps/read_mcps_file.ts";
import { readLocatedYaml } from "../yaml/read_located_yaml.ts";
import type { PushOptions } from "./push_definitions.ts";
import { readFolder } from "./read_folder.ts";

/** The files of a push. */
export interface PushFiles {
  /** The folder of the definitions. */
  readonly folder: string;
  /** The list of MCP servers; without `isRequired`, it may be missing. */
  readonly mcps: { readonly path: string; readonly isRequired: boolean };
  readonly environment: Environment;
}

/**
 * Reads what a push writes.
 *
 * @throws CommandError with every problem of the definitions, its file and line; YamlFileError
 */
export async function readPushFiles(
  { folder, mcps, environment }: PushFiles,
): Promise<Pick<PushOptions, "definitions" | "servers">> {
  const yaml = await loadYaml();
  const files = await readFolder(folder);
  const { definitions, problems } = readDefinitions(files, (text) => yaml.parse(text));
  if (problems.length > 0) {
    const lines = problems.map((problem) =>
      `  ${basename(folder)}/${placeOf(problem, files, yaml)}: ${problem.message}`
    );
    throw new CommandError(`Cannot push, because of these problems:\n${lines.join("\n")}`);
  }
  const text = await readMcps(mcps);
  if (text === null) return { definitions, servers: null };
  const fileName = basename(mcps.path);
  const entries = readMcpsFile(text, fileName, yaml);
  return { definitions, servers: { entries, environment, fileName } };
}

async function readMcps({ path, isRequired }: PushFiles["mcps"]): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    if (!isRequired && cause instanceof Deno.errors.NotFound) return null;
    throw new CommandError(`Cannot read ${path}: it does not exist or is not readable`, { cause });
  }
}

/** The file of a problem, with the line if it concerns a part of the file. */
function placeOf(
  { path, at }: FileProblem,
  files: readonly DefinitionFile[],
  yaml: YamlModule,
): string {
  const bytes = files.find((file) => file.path === path)?.bytes;
  const text = new TextDecoder().decode(bytes);
  const part = path.endsWith(".md") ? frontMatterOf(text) : text;
  const located = readLocatedYaml(part, yaml);
  if (located.kind === "read" && at === undefined) return path;
  const line = located.kind === "read" ? located.lineOf(at ?? []) : located.problems[0]?.line ?? 1;
  const linesBefore = text.slice(0, text.indexOf(part)).split("\n").length - 1;
  return `${path}:${linesBefore + line}`;
}

function frontMatterOf(text: string): string {
  try {
    return splitFrontMatter(text, "the file").yaml;
  } catch (error) {
    if (error instanceof SwarmError) return ""; // That is the problem.
    throw error;
  }
}
