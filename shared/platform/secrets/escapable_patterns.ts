const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
};
const ENTITY_NAMES: Readonly<Record<string, string>> = {
  '"': "quot",
  "&": "amp",
  "'": "apos",
  "<": "lt",
  ">": "gt",
};

/** A character that escapes the next one and may itself be escaped. */
export const BACKSLASH =
  "(?:\\\\(?:u005[cC]|x5[cC])?|%(?:25)*5[cC]|&(?:amp;)*(?:bsol|#(?:0*92|[xX]0*5[cC]));)";
/** Keys are shorter; a longer regular expression compiles slowly and may overflow the stack. */
const MAX_ESCAPABLE_CHARACTERS = 512;

/**
 * Patterns that match a text with any of its characters escaped individually: `/` also as `\/`,
 * `\u002f`, `\x2F`, `%2F`, `%252f`, `&#47;` and `&#x2F;`. Letters, digits and characters that URLs
 * never escape (`-._~`) are matched literally: `decodeLetters()` decodes their escapes first.
 *
 * Repetitions in a pattern are delimited by other characters, so that matching takes linear time.
 *
 * @returns One form of the text, as the patterns of its characters in turn (a run of backslashes
 * counts as one); several for a text with very many characters to escape, which is found only if
 * all of them use the same escape.
 */
export function escapablePatterns(text: string): string[][] {
  const parts = text.match(/\\+|[^]/gu) ?? [];
  const escapable = parts.filter((part) => !isPlain(part)).length;
  if (escapable > MAX_ESCAPABLE_CHARACTERS) {
    return wholeForms(text).map((form) => Array.from(form, literalPattern));
  }
  return [parts.map((part, place) => patternOf(part, place === 0))];
}

function wholeForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const encoded = encodeURIComponent(text.toWellFormed());
  const forms = [
    text,
    json,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function literalPattern(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\]/, "\\$&");
}

function isPlain(part: string): boolean {
  return /^[A-Za-z0-9._~-]$/.test(part);
}

function patternOf(part: string, isFirst: boolean): string {
  if (isPlain(part)) return literalPattern(part);
  const { length } = part;
  if (part.startsWith("\\")) {
    return `${BACKSLASH}{${length},${isFirst ? 8 * length : ""}}(?!${BACKSLASH})`;
  }
  // The first one has no delimiter before it, so it would otherwise match at each backslash.
  const backslashes = `${BACKSLASH}${isFirst ? "{0,7}" : "*"}`;
  const units = Array.from({ length }, (_, index) => unitEscapes(part.charCodeAt(index)));
  const short = SHORT_ESCAPES[part];
  const forms = [
    encoded(part),
    literalPattern(part),
    units.map((unit) => anyOf(unit)).join(backslashes),
    ...(short === undefined ? [] : [`(?<=\\\\)${short}`]),
    // Forms write it so.
    ...(part === " " ? ["\\+"] : []),
  ];
  return `${backslashes}${anyOf(...forms)}`;
}

function anyOf(...alternatives: readonly string[]): string {
  return `(?:${alternatives.join("|")})`;
}

/** `u002f` and, if it is short enough, `x2f`, preceded by backslashes. */
function unitEscapes(unit: number): string {
  const hex = unit.toString(16);
  const short = hex.length > 2 ? "" : `|x${anyCase(hex.padStart(2, "0"))}`;
  return `u${anyCase(hex.padStart(4, "0"))}${short}`;
}

/**
 * HTML and URL escapes, any number of times. An escape that starts with `&` may mean `&` itself.
 */
function encoded(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const name = ENTITY_NAMES[character];
  const numbers = `#(?:0*${code}|[xX]0*${anyCase(code.toString(16))})`;
  const octets = [...new TextEncoder().encode(character)].map((octet) =>
    `%(?:25)*${anyCase(octet.toString(16).padStart(2, "0"))}`
  );
  return `&(?:amp;)*${name === undefined ? numbers : anyOf(name, numbers)};|${octets.join("")}`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/**
 * Bytes that a hexadecimal text must start with; for a longer secret any following digits match.
 */
const MAX_HEXADECIMAL_BYTES = 256;

/**
 * Patterns that match a text's bytes in hexadecimal digits of either case, as one number or with a
 * space, a colon or a hyphen between bytes; one pattern for each digit and each gap.
 */
export function hexadecimalPattern(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const patterns = [...bytes.subarray(0, MAX_HEXADECIMAL_BYTES)].flatMap((byte) => {
    const [high = "", low = ""] = byte.toString(16).padStart(2, "0");
    return ["[ :-]?", anyCase(high), anyCase(low)];
  });
  const rest = bytes.byteLength > MAX_HEXADECIMAL_BYTES ? ["(?:[ :-]?[0-9a-fA-F]{2})*"] : [];
  return [...patterns.slice(1), ...rest];
}
