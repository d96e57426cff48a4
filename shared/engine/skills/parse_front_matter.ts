import { yamlProblem } from "../../platform/values/yaml_problem.ts";
import type { ParseYaml } from "./parse_yaml.ts";
import { unreadable } from "./skill_problem.ts";
import { splitFrontMatter } from "./split_front_matter.ts";

/** Something that was left out, or not read as it is written. */
export interface FrontMatterNote {
  /** The line of the file, counted from 1. */
  readonly line: number;
  readonly key: string;
  /** What is wrong, with the key. */
  readonly problem: string;
  /** What was read instead. */
  readonly reading: string;
}

/** The two parts of a Markdown file with front matter. */
export interface FrontMatterFile {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly notes: readonly FrontMatterNote[];
}

/** A line that begins a field: a plain or quoted key at the start, then a colon. */
const KEY = /^(?:"([^"\n]+)"|'([^'\n]+)'|([A-Za-z_][\w.-]*))[ \t]*:(?=\s|$)/;
/** Only these keys end a text that goes on over several lines, where examples have lines such as `user: …`. */
const STANDARD_KEYS: readonly string[] = [
  ...["name", "description", "version", "license", "compatibility", "metadata", "allowed-tools"],
  ...["tools", "disallowedTools", "model", "color", "permissionMode", "maxTurns", "skills"],
  ...["provider", "handoffs", "category", "tags", "author", "argument-hint"],
];
/** Lines of a conversation in the examples of a description, which look like fields. */
const SPEAKERS = /^(user|assistant|human|system|context|commentary|examples?|note)$/i;
/** Its parser is slow for the worst texts. */
const MAX_FRONT_MATTER_CHARACTERS = 65_536;
/** The start of a text over several lines, such as `|` or `>-`. */
const BLOCK_MARK = /^[|>][+-]?\d?[+-]?[ \t]*(?:#.*)?$/;

/**
 * Reads a Markdown file with YAML front matter. Front matter that is not YAML as a whole, as in many
 * public files, is read field by field: what is not YAML then is a text, and named in the notes.
 *
 * @throws SKILL_INVALID without front matter, or if it has no fields.
 */
export function parseFrontMatter(
  text: string,
  path: string,
  parseYaml: ParseYaml,
): FrontMatterFile {
  const { yaml, firstLine, body, isClosed } = splitFrontMatter(text, path);
  if (yaml.length > MAX_FRONT_MATTER_CHARACTERS) {
    const problem = `its front matter is longer than ${MAX_FRONT_MATTER_CHARACTERS} characters`;
    throw unreadable({ path, line: 2 }, problem, { hint: "Move texts below the front matter." });
  }
  const { fields, notes } = readFields(yaml, path, parseYaml);
  const unclosed: FrontMatterNote = {
    line: 0,
    key: "",
    problem: "the front matter has no end, a line ---",
    reading: "its lines up to an empty one are read",
  };
  return {
    fields,
    body,
    notes: [...isClosed ? [] : [unclosed], ...notes]
      .map((one) => ({ ...one, line: one.line + firstLine - 1 })),
  };
}

const NEWLINE = /\r\n?|\n/;

/** The line of a key of the front matter in a file's text, counted from 1; 1 without the key. */
export function lineOfKey(text: string, key: string): number {
  const place = text.split(NEWLINE).findIndex((line) => keyOf(line) === key);
  return place < 0 ? 1 : place + 1;
}

function readFields(
  yaml: string,
  path: string,
  parseYaml: ParseYaml,
): Pick<FrontMatterFile, "fields" | "notes"> {
  const whole = tryParse(yaml, parseYaml);
  if (whole.kind === "read") {
    if (whole.value === null || whole.value === undefined) return { fields: {}, notes: [] };
    if (isFields(whole.value)) return { fields: whole.value, notes: [] };
  }
  const { parts, ignored } = splitFields(yaml.split(NEWLINE));
  if (parts.length === 0) {
    throw unreadable({ path, line: 2 }, "its front matter is invalid: it has no fields", {
      hint: "Write one field a line, such as name: and description:.",
    });
  }
  const fields = new Map<string, unknown>();
  const notes = ignored.map((line): FrontMatterNote => ({
    line,
    key: "",
    problem: "the line is not a field",
    reading: "left out",
  }));
  for (const part of parts) {
    const { line } = part;
    const { values, note } = readField(part, parseYaml);
    let isUsed = false;
    for (const [key, value] of Object.entries(values)) {
      if (fields.has(key)) {
        const problem = `${key}: the key appears twice`;
        notes.push({ line, key, problem, reading: "the first one is used" });
        continue;
      }
      fields.set(key, value);
      isUsed = true;
    }
    if (note !== null && isUsed) notes.push({ line, key: part.key, ...note });
  }
  return { fields: Object.fromEntries(fields), notes };
}

interface Field {
  readonly key: string;
  /** Of the front matter, counted from 1. */
  readonly line: number;
  readonly lines: string[];
}

function splitFields(lines: readonly string[]) {
  const parts: Field[] = [];
  const ignored: number[] = [];
  let isProse = false;
  for (const [index, text] of lines.entries()) {
    const key = keyOf(text);
    const part = parts.at(-1);
    const isField = key !== null && (STANDARD_KEYS.includes(key) ||
      !isProse && !(part?.key === "description" && SPEAKERS.test(key)));
    if (isField) {
      parts.push({ key, line: index + 1, lines: [text] });
      isProse = false;
    } else if (part !== undefined) {
      part.lines.push(text);
      // Lists and closing brackets may stand at the start of a line, other values may not.
      isProse ||= /^[^\s#\]}-]/.test(text);
    } else if (text.trim() !== "" && !text.startsWith("#")) ignored.push(index + 1);
  }
  return { parts, ignored };
}

/** The values of a field, and of those below it that only YAML knows as fields. */
function readField({ key, lines }: Field, parseYaml: ParseYaml): {
  readonly values: Readonly<Record<string, unknown>>;
  readonly note: Pick<FrontMatterNote, "problem" | "reading"> | null;
} {
  const text = lines.join("\n");
  const parsed = tryParse(text, parseYaml);
  if (parsed.kind === "read" && isFields(parsed.value)) {
    return { values: parsed.value, note: null };
  }
  const reason = parsed.kind === "invalid" ? parsed.reason : "it is no field";
  const problem = `${key}: it is not YAML: ${reason}`;
  const untabbed = text.replace(/^[ \t]+/gm, (indent) => indent.replaceAll("\t", "  "));
  const spaced = untabbed === text ? parsed : tryParse(untabbed, parseYaml);
  if (spaced.kind === "read" && isFields(spaced.value)) {
    const reading = "its tabs are read as spaces";
    return { values: spaced.value, note: { problem, reading } };
  }
  const reading = `read as text; write ${key}: >- and the text below it, indented`;
  return { values: { [key]: plainText(text.replace(KEY, "")) }, note: { problem, reading } };
}

/** What stands after a key, as one text, without the quotes or the mark around it. */
function plainText(written: string): string {
  const [first = "", ...rest] = written.split("\n").map((line) => line.trim());
  const text = (BLOCK_MARK.test(first) ? rest : [first, ...rest]).join("\n").trim();
  return /^(["'])([^]*)\1$/.exec(text)?.[2] ?? text;
}

function keyOf(line: string): string | null {
  const match = KEY.exec(line);
  return match === null ? null : match[1] ?? match[2] ?? match[3] ?? null;
}

type Parsed =
  | { readonly kind: "read"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly reason: string };

function tryParse(yaml: string, parseYaml: ParseYaml): Parsed {
  try {
    return { kind: "read", value: parseYaml(yaml) };
  } catch (error) {
    return { kind: "invalid", reason: yamlProblem(error) };
  }
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
