import { atOnce, inTurns } from "../in_turns.ts";
import type { JsonValue } from "../json.ts";
import { lazily } from "../lazily.ts";
import { escapablePatterns, hexadecimalPattern } from "./escapable_patterns.ts";
import { decodeLetters } from "./escaped_letters.ts";
import { REDACTED, redactParts, type SecretPatterns } from "./redact_parts.ts";

export { REDACTED };

/** Replaces a call's secrets in whatever is stored, logged, broadcast or sent to a model. */
export interface Redactor {
  /** For text of ours or of a few kilobytes: it is searched at once. */
  text(value: string): string;
  /** The beginning of a text, redacted before it is cut: half a secret would not be found. */
  head(value: string, maxCharacters: number): string;
  /** For text of others of any length: others get their turns meanwhile. */
  textInTurns(value: string): Promise<string>;
  /** Deeply, in keys, strings and numbers. For values of ours or of a few kilobytes. */
  json(value: JsonValue): JsonValue;
  /** {@linkcode json} for values of others of any size: others get their turns meanwhile. */
  jsonInTurns(value: JsonValue): Promise<JsonValue>;
  /**
   * Where a secret begins that the text ends within, in whatever form; the text's length if there is
   * none. For text that comes in pieces.
   */
  findBeginning(text: string): number;
}

/** Shorter values are no secrets; replacing them would only garble text. */
const MIN_SECRET_LENGTH = 4;
/** Shorter stretches of base64 appear by chance. */
const MIN_BASE64_LENGTH = 8;
/** More say nothing new of whether a secret begins here. */
const MAX_COMPARED_CHARACTERS = 64;
/** Characters that one character of a secret takes in its longest form, with all its escapes. */
const MAX_FORM_FACTOR = 64;
/** The beginning of an escape that the text ends within. */
const CUT_ESCAPE = "[%&\\\\][%&\\\\#;A-Za-z0-9]{0,24}$";

/**
 * Makes a redactor for secret values. It finds each as it is, in base64 at any alignment and in
 * hexadecimal digits, all with any of their characters escaped as JSON, JavaScript, URLs, forms and
 * HTML do it: encoders differ in which they escape, and a document may hold another one.
 *
 * Values shorter than four characters are ignored.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const kept = [...new Set(secrets)].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  if (kept.length === 0) return NOTHING_TO_REDACT;
  // Longest first: the alternation takes the first that fits, and one form may contain another.
  const byLength = (a: { readonly length: number }, b: { readonly length: number }) =>
    b.length - a.length;
  const texts = [...new Set(kept.flatMap((secret) => [secret, ...base64Cores(secret)]))];
  const forms = [
    ...kept.map(hexadecimalPattern).sort(byLength),
    ...texts.sort(byLength).flatMap(escapablePatterns),
  ];
  const patterns: SecretPatterns = {
    whole: new RegExp(forms.map((form) => form.join("")).join("|"), "g"),
    longestForm: MAX_FORM_FACTOR * Math.max(...kept.map(({ length }) => length)),
  };
  const redactText = (value: string) => redactParts(value, patterns);
  const beginning = lazily(() => new RegExp(`(?:${forms.map(beginningOf).join("|")})$`));
  return {
    text: (value) => atOnce(redactText(value)),
    head: (value, maxCharacters) =>
      atOnce(redactParts(value, patterns, maxCharacters)).slice(0, maxCharacters),
    textInTurns: (value) => inTurns(redactText(value)),
    json: (value) => atOnce(redactJson(value, redactText)),
    jsonInTurns: (value) => inTurns(redactJson(value, redactText)),
    findBeginning: (value) => {
      const searchedFrom = Math.max(0, value.length - patterns.longestForm);
      const searched = value.slice(searchedFrom);
      const decoded = decodeLetters(searched);
      const found = (decoded?.text ?? searched).search(beginning());
      if (found === -1) return value.length;
      return searchedFrom + (decoded?.originalPlace(found) ?? found);
    },
  };
}

const NOTHING_TO_REDACT: Redactor = {
  text: (value) => value,
  head: (value, maxCharacters) => value.slice(0, maxCharacters),
  textInTurns: (value) => Promise.resolve(value),
  json: (value) => value,
  jsonInTurns: (value) => Promise.resolve(value),
  findBeginning: ({ length }) => length,
};

/**
 * Matches as many of a form's characters as there are before the end of the text; of a long form,
 * what follows its first characters is taken to be the rest.
 */
function beginningOf(form: readonly string[]): string {
  const [first = "", ...others] = form.slice(0, MAX_COMPARED_CHARACTERS);
  const rest = form.length > MAX_COMPARED_CHARACTERS ? "[^]*" : "";
  const orEnd = (pattern: string) => `(?:${pattern}|$|${CUT_ESCAPE})`;
  return `(?:${first}|${CUT_ESCAPE})${others.map(orEnd).join("")}${rest}`;
}

function* redactJson(
  value: JsonValue,
  redactText: (value: string) => Generator<void, string>,
): Generator<void, JsonValue> {
  if (typeof value === "string") return yield* redactText(value);
  if (typeof value === "number") {
    const text = String(value);
    return (yield* redactText(text)) === text ? value : REDACTED;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value as readonly JsonValue[]) {
      items.push(yield* redactJson(item, redactText));
    }
    return items;
  }
  const members: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    members.push([yield* redactText(key), yield* redactJson(item, redactText)]);
  }
  return Object.fromEntries(members);
}

/**
 * The characters of base64 text that depend on the secret alone, for each of the three ways its
 * bytes can fall into groups of three (as in `user:secret` of Basic authentication).
 */
function base64Cores(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((offset) => {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const encoded = btoa(String.fromCharCode(...padded));
    const firstOwn = Math.ceil(offset * 8 / 6);
    const lastOwn = Math.floor(padded.length * 8 / 6);
    const core = encoded.slice(firstOwn, lastOwn);
    if (core.length < MIN_BASE64_LENGTH) return [];
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
