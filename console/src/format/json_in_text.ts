/** Longer text is shown as it is: laying it out would block the page. */
const MOST_CHARACTERS = 5_000_000;
/** A short text is always laid out. */
const SHORT_CHARACTERS = 1_000;

/**
 * The object or list that a text is in JSON; undefined for other text. Whole numbers that a double
 * rounds stay text, because another number would name another record.
 */
export function jsonInText(text: string): unknown {
  if (text.length > MOST_CHARACTERS || !/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text, keepExact);
  } catch {
    return undefined; // Text that only begins like JSON.
  }
}

/**
 * A text that is an object or list in JSON, with line breaks unless they would more than double it, as
 * in {@linkcode readableJson}; null for other text.
 */
export function laidOutJson(text: string): string | null {
  return jsonInText(text) === undefined ? null : layOut(text);
}

const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Changes only the white space: parsing and writing would round numbers and sort names. */
function layOut(json: string): string {
  const parts: string[] = [];
  let depth = 0;
  let before = "";
  let spare = Math.max(SHORT_CHARACTERS, json.length);
  const newLine = () => {
    parts.push("\n", "  ".repeat(depth));
    spare -= 1 + 2 * depth;
  };
  for (const [token] of json.matchAll(TOKEN)) {
    const isEnd = token === "}" || token === "]";
    const isAfterBegin = before === "{" || before === "[";
    if (isEnd) depth--;
    if (isEnd ? !isAfterBegin : isAfterBegin || before === ",") newLine();
    parts.push(token === ":" ? ": " : token);
    if (token === ":") spare--;
    if (token === "{" || token === "[") depth++;
    before = token;
    if (spare < 0) return json;
  }
  return parts.join("");
}

/** The browsers that name no source round as JSON does. */
function keepExact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(context?.source ?? "") ? context?.source : value;
}
