import { basename, join } from "node:path";
import { PROJECT_ROOT } from "../../project_root.ts";
import type { SkillFile } from "../../../shared/engine/skills/skill.ts";
import { type Environment, readEnvironment } from "../../../stack/stack_environment.ts";
import { CommandError } from "../../cli/run_command.ts";
import { loadYaml } from "../../deps.ts";
import { readSkillFiles } from "../../skills/read_skill_files.ts";
import { yamlParser } from "../../yaml/parse_yaml.ts";
import type { ImportPlan } from "../import_plan.ts";
import { readServers } from "../read_servers.ts";
import { importAgents } from "./import_agents.ts";

/** What the command was given. */
export interface AgentImportInput {
  readonly source: string;
  readonly folder: string;
  readonly provider: string | undefined;
  readonly models: string | undefined;
  readonly tools: string | undefined;
}

/** Providers by the variable of their key. Aliases of models are Anthropic's, so that it is first. */
const PROVIDER_KEYS: readonly (readonly [variable: string, provider: string])[] = [
  ["ANTHROPIC_API_KEY", "anthropic"],
  ["OPENAI_API_KEY", "openai"],
  ["GOOGLE_API_KEY", "google"],
  ["OPENROUTER_API_KEY", "openrouter"],
  ["OLLAMA_HOST", "ollama"],
];
/** The servers that every project has. */
export const PLATFORM_SERVERS = ["artifacts", "catalog", "quoth", "supabase", "swarm"];
const DEFAULT_PROVIDER = "anthropic";

/**
 * Plans the files of `agents/` for the subagent files of a folder or an archive, or for one file.
 *
 * @throws CommandError, SKILL_INVALID if the source cannot be read.
 */
export async function importAgentFiles(
  { source, folder, provider, models, tools }: AgentImportInput,
): Promise<ImportPlan> {
  const yaml = await loadYaml();
  const settings = {
    provider: provider ?? providerOf(await readEnvironment(PROJECT_ROOT)),
    models: readPairs("models", models),
    tools: readPairs("tools", tools),
    servers: new Set([
      ...PLATFORM_SERVERS,
      ...(await namesIn(join(folder, "tools"))).map((name) => name.replace(/\.ya?ml$/, "")),
      ...(await readServers(yaml)).filter(({ entry }) => entry.enabled).map(({ slug }) => slug),
    ]),
    skills: new Set(await namesIn(join(folder, "skills"))),
  };
  return importAgents(await readSource(source), settings, {
    parseYaml: yamlParser(yaml),
    writeYaml: (value) => yaml.stringify(value),
  });
}

function providerOf(environment: Environment): string {
  return PROVIDER_KEYS.find(([variable]) => environment[variable])?.[1] ?? DEFAULT_PROVIDER;
}

async function readSource(source: string): Promise<readonly SkillFile[]> {
  const isMarkdown = /\.(md|markdown)$/i;
  const info = await Deno.stat(source).catch(() => null);
  if (info?.isFile && isMarkdown.test(source)) {
    return [{ path: basename(source), bytes: await Deno.readFile(source) }];
  }
  return await readSkillFiles(source, { isWanted: (path) => isMarkdown.test(path) });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function readPairs(option: string, text = ""): Record<string, string> {
  return Object.fromEntries(
    text.split(",").filter((pair) => pair.trim() !== "").map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new CommandError(`Cannot read --${option} ${pair}: use name=value`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
