import { Validator } from "../../vendor/cfworker_json_schema.js";
import { joinPath } from "../../platform/values/json_path.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { compilePattern } from "./linear_pattern.ts";
import { MAX_SCHEMA_CHARACTERS } from "./max_schema_characters.ts";
import {
  ALL_KEYWORDS,
  ANNOTATIONS,
  DRAFT_4_BOUND,
  type Keyword,
  LIST_OF_ITEMS,
} from "./schema_keywords.ts";
import { StepBudget } from "./step_budget.ts";
import { validateValue } from "./validate_value.ts";
import { fragmentNames } from "../../platform/values/json_pointer.ts";
import { beginningOf } from "../../platform/values/beginning_of.ts";

/** Why values cannot be checked against a part of a schema. */
export interface SchemaProblem {
  /** The keys and indexes that lead to the part. */
  readonly at: readonly (string | number)[];
  readonly message: string;
}

/** A problem with the path of the part, which begins with the name of the schema. */
export function schemaProblemText(name: string, { at, message }: SchemaProblem): string {
  return `${at.map(String).reduce(joinPath, name)}: ${message}`;
}

const MAX_PROBLEMS = 5;
const MAX_LEVELS = 64;
/** For all patterns of a schema, as when a value is checked. */
const MAX_COMPILE_STEPS = 100_000;
const MAX_SHOWN_CHARACTERS = 100;
const DRAFTS = /^https?:\/\/json-schema\.org\/(draft-0[467]|draft\/(2019-09|2020-12))\/schema#?$/;
const DRAFT_4 = /draft-04/;
/** One of each type, because a part of a schema may concern only one. */
const PROBES: readonly JsonValue[] = [null, true, "", 0, [], {}];

/**
 * Finds what of a schema {@linkcode validateValue} cannot check: values of keywords that are not
 * valid, patterns that cannot be matched in bounded time, references that are dangling, remote or
 * dynamic, unknown drafts, and schemas that are too large. Unknown keywords and formats are
 * annotations, as the standard has it.
 *
 * @returns At most five problems; empty if every value can be checked.
 */
export function findSchemaProblems(schema: JsonObject): SchemaProblem[] {
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) {
    return [{ at: [], message: `it is larger than ${MAX_SCHEMA_CHARACTERS} characters` }];
  }
  const problems = [...draftProblems(schema), ...keywordProblems(schema)];
  if (problems.length === 0) problems.push(...referenceProblems(schema));
  if (problems.length === 0) problems.push(...probeProblems(schema));
  return problems.slice(0, MAX_PROBLEMS);
}

function draftProblems({ $schema: draft }: JsonObject): SchemaProblem[] {
  if (draft === undefined || typeof draft === "string" && DRAFTS.test(draft)) return [];
  return [{
    at: ["$schema"],
    message: `${shown(draft)} is no draft that can be checked; leave it out`,
  }];
}

function keywordProblems(root: JsonObject): SchemaProblem[] {
  const isDraft4 = typeof root.$schema === "string" && DRAFT_4.test(root.$schema);
  const budget = new StepBudget(MAX_COMPILE_STEPS);
  const problems: SchemaProblem[] = [];
  let level = -1;
  visit(root, []);
  return problems;

  function visit(schema: JsonValue, at: SchemaProblem["at"]): void {
    level++;
    if (level > MAX_LEVELS) {
      problems.push({ at: [], message: `it is nested more than ${MAX_LEVELS} levels deep` });
    }
    const keywords = level <= MAX_LEVELS && isJsonObject(schema) ? Object.entries(schema) : [];
    for (const [keyword, value] of keywords) {
      if (problems.length < MAX_PROBLEMS) checkKeyword(keyword, value, [...at, keyword]);
    }
    level--;
  }

  function checkKeyword(keyword: string, value: JsonValue, at: SchemaProblem["at"]): void {
    if (keyword === "$dynamicRef" || keyword === "$recursiveRef" && value !== "#") {
      problems.push({ at, message: `${shown(value)} cannot be followed; write $ref` });
    }
    const rule = ruleOf(keyword, value, isDraft4);
    if (rule === undefined) return;
    if (!rule.isValid(value)) {
      problems.push({ at, message: `${shown(value)} must be ${rule.wanted}` });
      return;
    }
    if (keyword === "pattern" && typeof value === "string") checkPattern(value, at);
    if (keyword === "patternProperties" && isJsonObject(value)) {
      for (const pattern of Object.keys(value)) checkPattern(pattern, [...at, pattern]);
    }
    visitParts(rule.form, value, at);
  }

  function visitParts(form: Keyword["form"], value: JsonValue, at: SchemaProblem["at"]): void {
    if (form === "schema" || form === "schema_or_boolean") visit(value, at);
    if (form === "schema_list" && Array.isArray(value)) {
      value.forEach((part: JsonValue, place) => visit(part, [...at, place]));
    }
    if (form === "schema_map" && isJsonObject(value)) {
      for (const [name, part] of Object.entries(value)) visit(part, [...at, name]);
    }
  }

  function checkPattern(pattern: string, at: SchemaProblem["at"]): void {
    try {
      compilePattern(pattern, budget);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push({
        at,
        message: `${shown(pattern)} cannot be matched: ${reason.slice(0, 200)}`,
      });
    }
  }
}

function ruleOf(keyword: string, value: JsonValue, isDraft4: boolean): Keyword | undefined {
  if (ANNOTATIONS.has(keyword)) return undefined;
  if (keyword === "items" && Array.isArray(value)) return LIST_OF_ITEMS;
  if (isDraft4 && /^exclusiveM/.test(keyword)) return DRAFT_4_BOUND;
  return ALL_KEYWORDS.get(keyword);
}

/** The part of the validator that it finds references with. */
interface References {
  readonly lookup: Readonly<
    Record<string, boolean | { readonly $ref?: string; readonly __absolute_ref__?: string }>
  >;
}

/** Asks the validator itself, which alone knows what it finds by pointers, anchors and ids. */
function referenceProblems(schema: JsonObject): SchemaProblem[] {
  try {
    // It marks the schemas that it reads.
    const { lookup } = new Validator(structuredClone(schema)) as unknown as References;
    return Object.entries(lookup).flatMap(([address, part]) => {
      if (typeof part === "boolean" || part.$ref === undefined) return [];
      const target = part.__absolute_ref__ ?? part.$ref;
      if (lookup[target] !== undefined) return [];
      const at = [...pathOf(address), "$ref"];
      return [{ at, message: `${shown(part.$ref)} refers to nothing in the schema` }];
    });
  } catch (error) {
    return [{ at: [], message: `its references cannot be read: ${messageOf(error)}` }];
  }
}

function pathOf(address: string): string[] {
  return fragmentNames(address.split("#")[1] ?? "");
}

/** What only shows when a value is checked, such as a schema that refers to itself. */
function probeProblems(schema: JsonObject): SchemaProblem[] {
  for (const value of PROBES) {
    const checked = validateValue(value, schema);
    if (checked.kind === "undecided") return [{ at: [], message: checked.reason }];
  }
  return [];
}

function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? "";
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${beginningOf(text, MAX_SHOWN_CHARACTERS)}…`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : "it is unusable";
}
