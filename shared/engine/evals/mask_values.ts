import { isJsonObject, type JsonValue } from "../../platform/values/json.ts";

/** What is replaced, in this order, and by what: `#` is a number. */
const RULES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Longer texts than an address has are not searched, so that the search stays linear.
  [/[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,8}/gu, "person#@example.com"],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, "token-#"],
  // Known prefixes of keys, and texts as random as a key is.
  [/\b(?:sk|pk|rk|sb|gh[opsu]|xox[abps]|AKIA|AIza|Bearer)[-_ ]?[\w-]{16,}/g, "key-#"],
  [/\b[\da-f]{32,}\b/gi, "key-#"],
  [/\b(?=[\w-]{0,99}\d)(?=[\w-]{0,99}[a-z])(?=[\w-]{0,99}[A-Z])[\w-]{24,}/g, "key-#"],
  [/\+\d[\d ()/.-]{6,18}\d\b/g, "+1 555 010 #"],
  [/\b0\d[\d ()/-]{5,16}\d\b/g, "0555 010 #"],
  // Numbers of accounts, cards and people.
  [/\b\d(?:[ -]?\d){8,24}\b/g, "9990000#"],
];

/**
 * Creates a function that replaces what identifies people or grants access, everywhere in a value:
 * email addresses, phone numbers, keys and tokens, and runs of nine or more digits. It replaces equal
 * texts by equal ones, so that an answer still fits its question. Times and UUIDs stay.
 */
export function createMask(): (value: JsonValue) => JsonValue {
  const replacements = new Map<string, string>();

  function maskText(text: string): string {
    return text.split(KEPT).map((part, index) =>
      index % 2 === 1 ? part : RULES.reduce(
        (masked, [pattern, replacement]) =>
          masked.replaceAll(pattern, (found) => replacementOf(found, replacement)),
        part,
      )
    ).join("");
  }

  function replacementOf(found: string, replacement: string): string {
    // A rule may find what an earlier one wrote.
    if ([...replacements.values()].includes(found)) return found;
    const known = replacements.get(found) ??
      replacement.replace("#", String(replacements.size + 1));
    replacements.set(found, known);
    return known;
  }

  return function mask(value: JsonValue): JsonValue {
    if (typeof value === "string") return maskText(value);
    if (typeof value === "number" && Number.isSafeInteger(value)) {
      return Number(maskText(String(value)));
    }
    if (Array.isArray(value)) return value.map(mask);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [maskText(name), mask(member)]),
    );
  };
}

/** ISO times and UUIDs, which identify nobody by themselves. */
const KEPT =
  /(\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b)/;
