import { findSkills } from "../skills/find_skills.ts";
import { decodeText } from "../skills/decode_text.ts";
import { parseFrontMatter } from "../skills/parse_front_matter.ts";
import { parseSkill } from "../skills/parse_skill.ts";
import type { ParseYaml } from "../skills/parse_yaml.ts";
import { skillProblem } from "../skills/skill_problem.ts";
import {
  findSchemaProblems,
  schemaProblemText,
} from "../../models/tool_schemas/schema_problems.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { inputProblem } from "../tasks/input_problem.ts";
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
  triggersFileSchema,
  webhooksFileSchema,
} from "./file_schemas.ts";
import { readValue, readYaml } from "./read_yaml_file.ts";

/** The definitions of a folder, or what is wrong with its files. */
export interface ReadDefinitions {
  readonly definitions: readonly RegistryDefinition[];
  readonly problems: readonly FileProblem[];
  /** What was not read as it is written. */
  readonly warnings: readonly FileProblem[];
}

/** Aliases of coding agents that no provider knows. */
const MODEL_ALIASES = ["sonnet", "opus", "haiku"];
/** Only people and models read them, so that a text that is not YAML means what it says. */
const TEXT_KEYS = ["description", "display_name"];
const SKILLS = "skills/";
const ENTRY_SCHEMAS = {
  schedule: schedulesFileSchema,
  webhook: webhooksFileSchema,
  alert: alertsFileSchema,
  trigger: triggersFileSchema,
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
  const warnings: FileProblem[] = [];
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
    const warn = (warning: ValueProblem) => void warnings.push({ path, ...warning });
    if (agent !== undefined) take(file, (text) => [readAgent(agent, text, { parseYaml, warn })]);
    else if (tool !== undefined) take(file, (text) => [readTool(tool, text, parseYaml)]);
    else if (entry !== undefined) take(file, (text) => readEntries(entry, text, parseYaml));
    else problems.push({ path, message: unknownFile(path) });
  }
  const skills = readSkills(files, parseYaml);
  return {
    definitions: [...definitions, ...skills.definitions],
    problems: [
      ...problems,
      ...skills.problems,
      ...repeated(definitions),
      ...misfitSchedules(definitions, files),
    ],
    warnings: [...warnings, ...skills.warnings],
  };
}

class FileProblems extends Error {
  constructor(readonly problems: readonly ValueProblem[]) {
    super(problems.map(({ message }) => message).join("; "));
  }
}

interface AgentReader {
  readonly parseYaml: ParseYaml;
  readonly warn: (warning: ValueProblem) => void;
}

function readAgent(
  slug: string,
  text: string,
  { parseYaml, warn }: AgentReader,
): RegistryDefinition {
  const { fields, body, notes } = frontMatterOf(text, parseYaml);
  const unread = notes.filter(({ key }) => !TEXT_KEYS.includes(key));
  if (unread.length > 0) {
    throw new FileProblems(unread.map(({ line, problem }) => ({ line, message: problem })));
  }
  refuseForeignKeys(fields);
  const file = must(readValue(fields, agentFileSchema));
  for (const { line, problem, reading } of notes) {
    warn({ line, message: `${problem}; ${reading}` });
  }
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
  problems.push(...schemaProblems(["input_schema"], file.input_schema));
  problems.push(...schemaProblems(["output_schema"], file.output_schema));
  for (const [place, { tool, ask, when }] of (file.approvals ?? []).entries()) {
    if ((ask === "when") === (when !== undefined)) continue;
    const message = `approvals: the rule of ${tool} needs when if and only if ask is when`;
    problems.push({ at: ["approvals", place], message });
  }
  if (problems.length > 0) throw new FileProblems(problems);
  return { kind: "agent", slug, definition: agentDefinition(file, body) };
}

/** @throws FileProblems for keys that mean something elsewhere and nothing here. */
function refuseForeignKeys(fields: object): void {
  const foreign = Object.keys(fields).filter((key) => Object.hasOwn(FOREIGN_AGENT_KEYS, key));
  if (foreign.length === 0) return;
  throw new FileProblems(
    foreign.map((key) => ({
      at: [key],
      message: `remove ${key}, which has no effect here: ${FOREIGN_AGENT_KEYS[key]}`,
    })),
  );
}

function frontMatterOf(text: string, parseYaml: ParseYaml) {
  try {
    return parseFrontMatter(text, "the file", parseYaml);
  } catch (error) {
    if (!(error instanceof SwarmError)) throw error;
    const { message, line } = skillProblem(error);
    const form = "start with a line ---, then name: and provider:, then a line ---";
    throw new FileProblems([{ ...definedOnly({ line }), message: `${message}: ${form}` }]);
  }
}

function readTool(slug: string, text: string, parseYaml: ParseYaml): RegistryDefinition {
  const file = must(readYaml(text, toolFileSchema, parseYaml));
  const parameters = "parameters" in file.config ? file.config.parameters : undefined;
  const problems = schemaProblems(["config", "parameters"], parameters);
  if (problems.length > 0) throw new FileProblems(problems);
  return defined("tool", slug, file);
}

/** Why values cannot be checked against a schema of a file. */
function schemaProblems(
  at: readonly string[],
  schema: JsonObject | undefined,
): readonly ValueProblem[] {
  if (schema === undefined) return [];
  return findSchemaProblems(schema).map((problem) => ({
    at: [...at, ...problem.at],
    message: schemaProblemText(at.join("."), problem),
  }));
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
  const definitions: RegistryDefinition[] = [];
  const problems: FileProblem[] = [];
  const warnings: FileProblem[] = [];
  if (own.length === 0) return { definitions, problems, warnings };
  try {
    for (const folder of findSkills(own)) {
      try {
        const { skillId, ...skill } = parseSkill(folder.files, parseYaml, {
          path: folder.path,
          warn: (warning) => warnings.push(warning),
        });
        definitions.push({ kind: "skill", slug: skillId, definition: withoutAbsent({ ...skill }) });
      } catch (error) {
        if (!(error instanceof SwarmError)) throw error;
        problems.push({ path: `${folder.path}/SKILL.md`, ...skillProblem(error) });
      }
    }
  } catch (error) {
    if (!(error instanceof SwarmError)) throw error;
    problems.push({ path: SKILLS, message: error.message });
  }
  return { definitions, problems, warnings };
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

/** The schedules of which every job would fail, because their agent does not take their input. */
function misfitSchedules(
  definitions: readonly RegistryDefinition[],
  files: readonly DefinitionFile[],
): FileProblem[] {
  const path = files.find((file) => /^schedules\.ya?ml$/.test(file.path))?.path ?? "";
  const agents = new Map(
    definitions.filter(({ kind }) => kind === "agent").map((one) => [one.slug, one.definition]),
  );
  return definitions.filter(({ kind }) => kind === "schedule").flatMap(({ slug, definition }) => {
    const schema = agents.get(String(definition.agent))?.input_schema;
    if (!isJsonObject(schema)) return [];
    const problem = inputProblem(schema, definition.input ?? null);
    if (problem === null) return [];
    const message = `${slug}: the agent ${definition.agent} does not take its input: ${problem}`;
    return [{ path, at: [slug, "input"], message }];
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
    return decodeText(bytes);
  } catch {
    throw new FileProblems([{ message: "it is not UTF-8 text" }]);
  }
}
