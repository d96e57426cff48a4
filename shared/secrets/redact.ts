import type { JsonValue } from "../json.ts";
import { lazily } from "../lazily.ts";
import { escapablePatterns, hexadecimalPattern } from "./escapable_patterns.ts";
import { decodeLetters } from "./escaped_letters.ts";

/** What stands where a secret stood. */
export const REDACTED = "[redacted]";

/** Replaces a call's secrets in whatever is stored, logged, broadcast or sent to a model. */
export interface Redactor {
  text(value: string): string;
  /** Deeply, in keys, strings and numbers. */
  json(value: JsonValue): JsonValue;
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
  const forms = kept.flatMap(formsOf);
  if (forms.length === 0) {
    return {
      text: (value) => value,
      json: (value) => value,
      findBeginning: ({ length }) => length,
    };
  }
  // Longest first: the alternation takes the first that fits, and one form may contain another.
  const patterns = [
    ...kept.map(hexadecimalPattern).sort((a, b) => b.length - a.length),
    ...[...new Set(forms)].sort((a, b) => b.length - a.length).flatMap(escapablePatterns),
  ];
  const whole = new RegExp(patterns.map((form) => form.join("")).join("|"), "g");
  const text = (value: string) => redactText(value, whole);
  const beginning = lazily(() => new RegExp(`(?:${patterns.map(beginningOf).join("|")})$`));
  return {
    text,
    json: (value) => redactJson(value, text),
    findBeginning: (value) => {
      const decoded = decodeLetters(value);
      const found = (decoded?.text ?? value).search(beginning());
      if (found === -1) return value.length;
      return decoded?.originalPlace(found) ?? found;
    },
  };
}

/** Twice where letters are escaped: what is not, in a form that looks like an escape, goes first. */
function redactText(value: string, whole: RegExp): string {
  const plain = value.replace(whole, REDACTED);
  const decoded = decodeLetters(plain);
  if (decoded === null) return plain;
  let text = "";
  let copiedTo = 0;
  for (const match of decoded.text.matchAll(whole)) {
    const start = decoded.originalPlace(match.index);
    text += plain.slice(copiedTo, start) + REDACTED;
    copiedTo = decoded.originalPlace(match.index + match[0].length);
  }
  return text + plain.slice(copiedTo);
}

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

function redactJson(value: JsonValue, text: (value: string) => string): JsonValue {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") {
    return text(String(value)) === String(value) ? value : REDACTED;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactJson(item, text));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [text(key), redactJson(item, text)]),
  );
}

function formsOf(secret: string): string[] {
  return [secret, ...base64Cores(secret)];
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
