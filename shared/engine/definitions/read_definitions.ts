import { findSkills } from "../skills/find_skills.ts";
import { parseSkill, type ParseYaml } from "../skills/parse_skill.ts";
import { splitFrontMatter } from "../skills/split_front_matter.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { agentDefinition, withoutAbsent } from "./agent_definition.ts";
import {
  type DefinitionFile,
  ENTRY_KINDS,
  type EntryKind,
  type FileProblem,
  type RegistryDefinition,
  type ValueProblem,
} from "./definition.ts";
import { definitionOfParts } from "./file_parts.ts";
import {
  agentFileSchema,
  alertsFileSchema,
  FOREIGN_AGENT_KEYS,
  schedulesFileSchema,
  toolFileSchema,
  webhooksFileSchema,
} from "./file_schemas.ts";
import { readYaml } from "./read_yaml_file.ts";

/** The definitions of a folder, or what is wrong with its files. */
export interface ReadDefinitions {
  readonly definitions: readonly RegistryDefinition[];
  readonly problems: readonly FileProblem[];
}

/** Aliases of coding agents that no provider knows. */
const MODEL_ALIASES = ["sonnet", "opus", "haiku"];
const SKILLS = "skills/";
const ENTRY_SCHEMAS = {
  schedule: schedulesFileSchema,
  webhook: webhooksFileSchema,
  alert: alertsFileSchema,
} as const;
/** Beside agents: evals, scripts of the scripted model, documentation and schemas. */
const IGNORED = /(^|\/)(\.|README\.md$|_)|\.(evals|script)\.yaml$|^schemas\//;

/**
 * Reads the files of a project's folder of definitions: `<slug>.md`, `tools/<slug>.yaml`,
 * `skills/<name>/`, and those of {@linkcode ENTRY_KINDS}. Reads all of them, also after a problem.
 */
export function readDefinitions(
  files: readonly DefinitionFile[],
  parseYaml: ParseYaml,
): ReadDefinitions {
  const definitions: RegistryDefinition[] = [];
  const problems: FileProblem[] = [];
  const take = ({ path, bytes }: DefinitionFile, read: (text: string) => RegistryDefinition[]) => {
    try {
      definitions.push(...read(textOf(bytes)));
    } catch (error) {
      if (!(error instanceof FileProblems)) throw error;
      problems.push(...error.problems.map((problem) => ({ path, ...problem })));
    }
  };
  for (const file of files) {
    const { path } = file;
    if (path.startsWith(SKILLS) || IGNORED.test(path)) continue;
    const tool = /^tools\/([^/]+)\.ya?ml$/.exec(path)?.[1];
    const agent = /^([^/]+)\.md$/.exec(path)?.[1] ?? /^([^/]+)\/agent\.md$/.exec(path)?.[1];
    const entry = ENTRY_KINDS.find((kind) => path === `${kind}s.yaml` || path === `${kind}s.yml`);
    if (agent !== undefined) take(file, (text) => [readAgent(agent, text, parseYaml)]);
    else if (tool !== undefined) take(file, (text) => [readTool(tool, text, parseYaml)]);
    else if (entry !== undefined) take(file, (text) => readEntries(entry, text, parseYaml));
    else problems.push({ path, message: unknownFile(path) });
  }
  const skills = readSkills(files, parseYaml);
  return {
    definitions: [...definitions, ...skills.definitions],
    problems: [...problems, ...skills.problems, ...repeated(definitions)],
  };
}

class FileProblems extends Error {
  constructor(readonly problems: readonly ValueProblem[]) {
    super(problems.map(({ message }) => message).join("; "));
  }
}

function readAgent(slug: string, text: string, parseYaml: ParseYaml): RegistryDefinition {
  const { yaml, body } = frontMatterOf(text);
  refuseForeignKeys(yaml, parseYaml);
  const file = must(readYaml(yaml, agentFileSchema, parseYaml));
  const problems: ValueProblem[] = [];
  if (file.name !== slug) {
    const message = `it is "${file.name}", but the file is called ${slug}.md; make them equal`;
    problems.push({ at: ["name"], message: `name: ${message}` });
  }
  if (MODEL_ALIASES.includes(file.model ?? "")) {
    const message = `"${file.model}" is an alias of coding agents; write the model's full name`;
    problems.push({ at: ["model"], message: `model: ${message}` });
  }
  if (body === "") {
    problems.push({ message: "the text after the front matter is empty: it is the system prompt" });
  }
  for (const [place, { tool, ask, when }] of (file.approvals ?? []).entries()) {
    if ((ask === "when") === (when !== undefined)) continue;
    const message = `approvals: the rule of ${tool} needs when if and only if ask is when`;
    problems.push({ at: ["approvals", place], message });
  }
  if (problems.length > 0) throw new FileProblems(problems);
  return { kind: "agent", slug, definition: agentDefinition(file, body) };
}

/** @throws FileProblems for keys that mean something elsewhere and nothing here. */
function refuseForeignKeys(yaml: string, parseYaml: ParseYaml): void {
  let data: unknown;
  try {
    data = parseYaml(yaml);
  } catch {
    return; // readYaml() reports it.
  }
  if (typeof data !== "object" || data === null) return;
  const foreign = Object.keys(data).filter((key) => Object.hasOwn(FOREIGN_AGENT_KEYS, key));
  if (foreign.length === 0) return;
  throw new FileProblems(
    foreign.map((key) => ({
      at: [key],
      message: `remove ${key}, which has no effect here: ${FOREIGN_AGENT_KEYS[key]}`,
    })),
  );
}

function frontMatterOf(text: string) {
  try {
    return splitFrontMatter(text, "the file");
  } catch (error) {
    if (!(error instanceof SwarmError)) throw error;
    const message =
      "it has no front matter: start with a line ---, then name: and provider:, then a line ---";
    throw new FileProblems([{ message }]);
  }
}

function readTool(slug: string, text: string, parseYaml: ParseYaml): RegistryDefinition {
  return defined("tool", slug, must(readYaml(text, toolFileSchema, parseYaml)));
}

function readEntries(kind: EntryKind, text: string, parseYaml: ParseYaml): RegistryDefinition[] {
  return Object.entries(must(readYaml<object>(text, ENTRY_SCHEMAS[kind], parseYaml)))
    .map(([slug, fields]) => defined(kind, slug, fields));
}

function defined(
  kind: "tool" | EntryKind,
  slug: string,
  fields: Readonly<Record<string, unknown>>,
): RegistryDefinition {
  // The fields were read from YAML, whose data is JSON.
  const parts = { fields: withoutAbsent(fields), text: null };
  return { kind, slug, definition: definitionOfParts({ kind, slug }, parts) };
}

function readSkills(files: readonly DefinitionFile[], parseYaml: ParseYaml): ReadDefinitions {
  const own = files.filter(({ path }) => path.startsWith(SKILLS));
  if (own.length === 0) return { definitions: [], problems: [] };
  const definitions: RegistryDefinition[] = [];
  const problems: FileProblem[] = [];
  try {
    for (const folder of findSkills(own)) {
      try {
        const { skillId, ...skill } = parseSkill(folder.files, parseYaml);
        definitions.push({ kind: "skill", slug: skillId, definition: withoutAbsent({ ...skill }) });
      } catch (error) {
        problems.push({ path: `${folder.path}/SKILL.md`, message: messageOf(error) });
      }
    }
  } catch (error) {
    problems.push({ path: SKILLS, message: messageOf(error) });
  }
  return { definitions, problems };
}

function messageOf(error: unknown): string {
  if (error instanceof SwarmError) return error.message;
  throw error;
}

/** Two files of one agent: `writer.md` and `writer/agent.md`. */
function repeated(definitions: readonly RegistryDefinition[]): FileProblem[] {
  const seen = new Set<string>();
  return definitions.flatMap(({ kind, slug }) => {
    const key = `${kind} ${slug}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ path: slug, message: `the ${kind} has two files; remove one` }];
  });
}

function unknownFile(path: string): string {
  const slug = path.split(".", 1)[0] ?? "";
  const ofAgent = [".md", ".script.yaml", ".evals.yaml"];
  const others = [
    ...ENTRY_KINDS.map((kind) => `${kind}s.yaml`),
    "tools/<slug>.yaml",
    "skills/<name>/SKILL.md",
  ];
  const [nearest] = nearestNames(path, [...others, ...ofAgent.map((end) => `${slug}${end}`)], 1);
  return `it is no file of definitions${
    nearest === undefined ? "." : `; did you mean ${nearest}?`
  } Files are ${[...ofAgent.map((end) => `<slug>${end}`), ...others].join(", ")}`;
}

function must<T>(result: ReturnType<typeof readYaml<T>>): T {
  if (result.kind === "read") return result.value;
  throw new FileProblems(result.problems);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new FileProblems([{ message: "it is not UTF-8 text" }]);
  }
}
