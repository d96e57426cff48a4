import { basename } from "node:path";
import type { DefinitionFile, FileProblem } from "../../shared/engine/definitions/definition.ts";
import { readDefinitions } from "../../shared/engine/definitions/read_definitions.ts";
import { decodeText } from "../../shared/engine/skills/decode_text.ts";
import { lineOfKey } from "../../shared/engine/skills/parse_front_matter.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import {
  type FrontMatter,
  splitFrontMatter,
} from "../../shared/engine/skills/split_front_matter.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { readNamedFile } from "../files/read_named_file.ts";
import { CommandError } from "../cli/run_command.ts";
import { loadYaml, type YamlModule } from "../deps.ts";
import { readMcpsFile } from "../mcps/read_mcps_file.ts";
import { yamlParser } from "../yaml/parse_yaml.ts";
import { readLocatedYaml } from "../yaml/read_located_yaml.ts";
import type { PushOptions } from "./push_definitions.ts";
import { readFolder } from "./read_folder.ts";

const IMPORT_HINT =
  "deno task import agents <folder> converts subagent files of coding agents as they are";

/** The files of a push. */
export interface PushFiles {
  /** The folder of the definitions. */
  readonly folder: string;
  /** The list of MCP servers; without `isRequired`, it may be missing. */
  readonly mcps: { readonly path: string; readonly isRequired: boolean };
  readonly environment: Environment;
}

/** What a push writes, and what of the files was not read as it is written. */
export interface PushedFiles extends Pick<PushOptions, "definitions" | "servers"> {
  readonly warnings: readonly FileWarning[];
}

/** A part of a file that a push does not read as it is written. */
export interface FileWarning {
  /** The file and the line. */
  readonly at: string;
  readonly message: string;
}

/**
 * Reads what a push writes.
 *
 * @throws CommandError with every problem of the definitions, its file and line; YamlFileError
 */
export async function readPushFiles(
  { folder, mcps, environment }: PushFiles,
): Promise<PushedFiles> {
  const yaml = await loadYaml();
  const files = await readFolder(folder);
  const read = readDefinitions(files, yamlParser(yaml));
  const { definitions, problems } = read;
  const at = (problem: FileProblem) => `${basename(folder)}/${placeOf(problem, files, yaml)}`;
  const warnings = read.warnings.map((one) => ({ at: at(one), message: one.message }));
  if (problems.length > 0) {
    const lines = problems.map((problem) => `  ${at(problem)}: ${problem.message}`);
    const isAgent = problems.some(({ path }) => /^[^/]+(\/agent)?\.md$/.test(path));
    const hint = isAgent ? `\n${IMPORT_HINT}` : "";
    throw new CommandError(`Cannot push, because of these problems:\n${lines.join("\n")}${hint}`);
  }
  const text = await readMcps(mcps);
  if (text === null) return { definitions, warnings, servers: null };
  const fileName = basename(mcps.path);
  const entries = readMcpsFile(text, fileName, yaml);
  return { definitions, warnings, servers: { entries, environment, fileName } };
}

async function readMcps({ path, isRequired }: PushFiles["mcps"]): Promise<string | null> {
  return await readNamedFile(path).catch((error) => {
    if (!isRequired && error.cause instanceof Deno.errors.NotFound) return null;
    throw error;
  });
}

/** The file of a problem, with the line if it concerns a part of the file. */
function placeOf(
  { path, at, line }: FileProblem,
  files: readonly DefinitionFile[],
  yaml: YamlModule,
): string {
  if (line !== undefined) return `${path}:${line}`;
  const bytes = files.find((file) => file.path === path)?.bytes;
  const text = bytes === undefined ? "" : textOf(bytes);
  const key = at?.[0];
  const isMarkdown = path.endsWith(".md");
  const { yaml: part, firstLine } = isMarkdown ? frontMatterOf(text) : { yaml: text, firstLine: 1 };
  const located = readLocatedYaml(part, yaml);
  if (at === undefined && (isMarkdown || located.kind === "read")) return path;
  // Of front matter that is read field by field, only the fields have lines.
  if (isMarkdown && located.kind === "invalid") return `${path}:${lineOfKey(text, String(key))}`;
  const place = located.kind === "read" ? located.lineOf(at ?? []) : located.problems[0]?.line ?? 1;
  return `${path}:${firstLine - 1 + place}`;
}

function frontMatterOf(text: string): Pick<FrontMatter, "yaml" | "firstLine"> {
  try {
    return splitFrontMatter(text, "the file");
  } catch (error) {
    // That is the problem.
    if (error instanceof SwarmError) return { yaml: "", firstLine: 1 };
    throw error;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    return ""; // That is the problem.
  }
}
