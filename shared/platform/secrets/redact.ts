import { atOnce, inTurns } from "../values/in_turns.ts";
import type { JsonValue } from "../values/json.ts";
import { lazily } from "../values/lazily.ts";
import { escapablePatterns, hexadecimalPattern } from "./escapable_patterns.ts";
import { decodeLetters } from "./escaped_letters.ts";

/** The replacement for a secret. */
const REDACTED = "[redacted]";

/** Characters of a text that are searched in one step. */
const PART_CHARACTERS = 65_536;
/** Characters before a part that its patterns also read: an escape that starts there. */
const CONTEXT_CHARACTERS = 64;

/** The search patterns. */
interface SecretPatterns {
  /** With the flag `g`. */
  readonly whole: RegExp;
  /** Maximum length of any form of a secret. */
  readonly longestForm: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces the secrets in a text, one part per step. A part is searched together with the following
 * text, so that a secret is found wherever it starts.
 *
 * @param maxCharacters The result may end early at this length. @default the full text
 */
function* redactParts(
  value: string,
  patterns: SecretPatterns,
  maxCharacters: number = Infinity,
): Generator<void, string> {
  const partLength = Math.max(PART_CHARACTERS, 2 * patterns.longestForm);
  let text = "";
  let place = 0;
  while (place < value.length && text.length < maxCharacters) {
    const end = Math.min(place + partLength, value.length);
    const from = Math.max(0, place - CONTEXT_CHARACTERS);
    const searched = value.slice(from, end + patterns.longestForm);
    const { found, copiedTo } = redactPart(
      searched,
      { start: place - from, end: end - from },
      patterns,
    );
    text += found;
    place = from + copiedTo;
    yield;
  }
  return text;
}

/** Redacts the secrets that start within a part; the last one may end after it. */
function redactPart(text: string, part: Range, patterns: SecretPatterns) {
  let found = "";
  let copiedTo = part.start;
  for (const { start, end } of rangesIn(text, patterns)) {
    if (start < part.start) continue;
    if (start >= part.end) break;
    if (end <= copiedTo) continue;
    if (start >= copiedTo) found += text.slice(copiedTo, start) + REDACTED;
    copiedTo = end;
  }
  if (copiedTo < part.end) {
    found += text.slice(copiedTo, part.end);
    copiedTo = part.end;
  }
  return { found, copiedTo };
}

/** The positions of secrets, in the original text and in the text with decoded letters. */
function rangesIn(text: string, { whole }: SecretPatterns): Range[] {
  const ranges = Array.from(
    text.matchAll(whole),
    ({ index, 0: { length } }) => ({ start: index, end: index + length }),
  );
  const decoded = decodeLetters(text);
  if (decoded === null) return ranges;
  for (const { index, 0: { length } } of decoded.text.matchAll(whole)) {
    ranges.push({
      start: decoded.originalPlace(index),
      end: decoded.originalPlace(index + length),
    });
  }
  return ranges.sort((a, b) => a.start - b.start || b.end - a.end);
}

export { REDACTED };

/** Replaces a call's secrets in everything that is stored, logged, broadcast or sent to a model. */
export interface Redactor {
  /** For our own or short text: it is searched without yielding. */
  text(value: string): string;
  /**
   * The beginning of a text, redacted before truncation, because a truncated secret would escape
   * redaction.
   */
  head(value: string, maxCharacters: number): string;
  /** For untrusted text of any length: yields to other work. */
  textInTurns(value: string): Promise<string>;
  /** Deeply, in keys, strings and numbers. For our own or small values. */
  json(value: JsonValue): JsonValue;
  /** {@linkcode json} for untrusted values of any size: yields to other work. */
  jsonInTurns(value: JsonValue): Promise<JsonValue>;
  /**
   * The start of a secret, in any form, that is cut off at the end of the text; the text's length
   * if there is none. For streamed text.
   */
  findBeginning(text: string): number;
}

/** Shorter values are not secrets; replacing them would only garble text. */
const MIN_SECRET_LENGTH = 4;
/** Shorter runs of base64 appear by chance. */
const MIN_BASE64_LENGTH = 8;
/** More characters do not help to decide whether a secret starts here. */
const MAX_COMPARED_CHARACTERS = 64;
/** Maximum length of one character of a secret with all its escapes. */
const MAX_FORM_FACTOR = 64;
/** The beginning of an escape that is cut off at the end of the text. */
const CUT_ESCAPE = "[%&\\\\][%&\\\\#;A-Za-z0-9]{0,24}$";

/**
 * Creates a redactor for secret values. It finds each value literally, in base64 at any alignment
 * and in hexadecimal digits, with any characters escaped as in JSON, JavaScript, URLs, forms and
 * HTML, because encoders differ in what they escape and documents may be nested.
 *
 * Values shorter than four characters are ignored.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const kept = [...new Set(secrets)].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  if (kept.length === 0) return NOTHING_TO_REDACT;
  // Longest first: the alternation takes the first match, and one form may contain another.
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
 * Matches a prefix of a form at the end of the text; for a long form, any text after its first
 * characters is assumed to be the rest.
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
 * The characters of base64 text that depend only on the secret, for each of its three possible
 * alignments (as in `user:secret` of Basic authentication).
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
