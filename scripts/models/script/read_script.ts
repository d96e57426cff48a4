import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { readValue } from "../../../shared/engine/definitions/read_yaml_file.ts";
import type { ValueProblem } from "../../../shared/engine/definitions/definition.ts";
import type { YamlModule } from "../../deps.ts";
import { readYamlFile } from "../../yaml/read_located_yaml.ts";
import { placeholdersOf } from "./placeholders.ts";
import { type ScriptFile, scriptFileSchema } from "./script_file_schema.ts";

/** The rules of one agent, in order. */
export interface Script {
  /** As messages name it. */
  readonly fileName: string;
  readonly rules: readonly ScriptRule[];
}

/** A rule: when it applies, and the answer. */
export interface ScriptRule {
  /** Counted from 1. */
  readonly line: number;
  readonly isFirst: boolean;
  readonly contains: string | null;
  readonly pattern: RegExp | null;
  readonly resultOf: string | null;
  readonly reasoning: string | null;
  readonly say: string | null;
  readonly calls: readonly { readonly tool: string; readonly arguments: JsonObject }[];
}

type FileRule = ScriptFile[number];

/** What placeholders name besides captures. */
const SOURCES = ["input", "message"];

/**
 * Reads the text of an `agents/<slug>.script.yaml`.
 *
 * @throws YamlFileError with every problem and its line: unknown keys, patterns that cannot be read,
 * placeholders without a value, and rules that never apply.
 */
export function readScript(text: string, fileName: string, yaml: YamlModule): Script {
  const { value, lineOf, problems: failure } = readYamlFile(text, fileName, yaml);
  const file = readValue(value ?? [], scriptFileSchema);
  if (file.kind === "invalid") throw failure(file.problems);
  const rules = file.value;
  const problems = [
    ...rules.flatMap(problemsOfRule),
    ...unreachableRules(rules, (place) => lineOf([place])),
  ];
  if (problems.length > 0) throw failure(problems);
  return { fileName, rules: rules.map((rule, place) => toRule(rule, lineOf([place]))) };
}

function toRule({ when, reasoning, say, call, output }: FileRule, line: number): ScriptRule {
  return {
    line,
    isFirst: when?.first ?? false,
    contains: when?.contains ?? null,
    pattern: when?.matches === undefined ? null : toPattern(when.matches),
    resultOf: when?.result_of ?? null,
    reasoning: reasoning ?? null,
    say: say ?? null,
    calls: output === undefined ? call ?? [] : [{ tool: "complete_task", arguments: { output } }],
  };
}

function toPattern(source: string): RegExp {
  return new RegExp(source, "su");
}

function problemsOfRule(rule: FileRule, place: number): ValueProblem[] {
  const { when, ...answer } = rule;
  const { first, matches, result_of: resultOf } = when ?? {};
  const problems: ValueProblem[] = [];
  if (when !== undefined && Object.keys(when).length === 0) {
    problems.push({ at: [place, "when"], message: "when needs a condition, or remove it" });
  }
  if (Object.keys(answer).every((key) => key === "reasoning")) {
    problems.push({ at: [place], message: "the rule does nothing; add say, call or output" });
  }
  if (answer.call !== undefined && answer.output !== undefined) {
    const message = "the rule has call and output; write a rule for each";
    problems.push({ at: [place, "output"], message });
  }
  if (first && resultOf !== undefined) {
    const message = "never applies: before the first answer there is no result of a tool";
    problems.push({ at: [place, "when"], message });
  }
  let captures: readonly string[] = [];
  try {
    if (matches !== undefined) captures = capturesOf(toPattern(matches));
  } catch (error) {
    const message = `is not a regular expression: ${
      error instanceof Error ? error.message : error
    }`;
    return [...problems, { at: [place, "when", "matches"], message }];
  }
  for (const name of captures.filter((capture) => SOURCES.includes(capture))) {
    const message = `give the capture ${name} another name: {{${name}}} is something else`;
    problems.push({ at: [place, "when", "matches"], message });
  }
  for (const [key, value] of Object.entries(answer)) {
    for (const name of placeholdersOf(value as JsonValue)) {
      const known = [...SOURCES, ...captures];
      if (known.includes(name.split(".", 1)[0] ?? "")) continue;
      const message = `{{${name}}} has no value here. There are ${known.join(", ")}`;
      problems.push({ at: [place, key], message });
    }
  }
  return problems;
}

/** The numbers and names of a pattern's captures; 0 is the whole match. */
function capturesOf(pattern: RegExp): string[] {
  // An alternative that is empty matches everything, with all captures unset.
  const match = new RegExp(`${pattern.source}|`, pattern.flags).exec("");
  return [...Object.keys([...match ?? []]), ...Object.keys(match?.groups ?? {})];
}

function unreachableRules(
  rules: readonly FileRule[],
  lineOf: (place: number) => number,
): ValueProblem[] {
  return rules.flatMap((rule, place) => {
    const covering = rules.slice(0, place).findIndex((earlier) => covers(earlier, rule));
    if (covering < 0) return [];
    const message = `never applies: the rule of line ${lineOf(covering)} always applies before it`;
    return [{ at: [place], message }];
  });
}

/** Whether the earlier rule applies to everything to which the later one does. */
function covers({ when: earlier = {} }: FileRule, { when: later = {} }: FileRule): boolean {
  const hasText = earlier.contains !== undefined || earlier.matches !== undefined;
  return (earlier.first === undefined || later.first === true) &&
    // Conditions of a text concern the user's message, unless they name a result.
    (hasText || earlier.result_of !== undefined ? earlier.result_of === later.result_of : true) &&
    (earlier.contains === undefined || (later.contains?.includes(earlier.contains) ?? false)) &&
    (earlier.matches === undefined || earlier.matches === later.matches);
}
