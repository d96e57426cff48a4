/** A call with more arguments than this has to name them. */
const MAX_POSITIONAL = 2;
const CALL = /\b(?:private|public)\.([a-z_0-9]+)\s*\(/g;
/** Before the columns of a table, or in a comment. */
const NO_CALL = /\b(insert into|table|references|function|on)\s+$|^\s*(\*|\/\/)/;

/** The names of the functions that a source creates in `private` and `public`. */
export function sqlFunctions(source: string): string[] {
  const created = /create (?:or replace )?function (?:private|public)\.([a-z_0-9]+)\s*\(/g;
  return [...source.matchAll(created)].map(([, name = ""]) => name);
}

/**
 * Finds calls of SQL functions in TypeScript that pass more than two arguments by position: a swap
 * of two of them would have no wrong type.
 */
export function positionalCalls(
  path: string,
  source: string,
  functions: ReadonlySet<string>,
): string[] {
  return [...source.matchAll(CALL)].flatMap(({ 0: call, 1: name = "", index }) => {
    const line = source.slice(source.lastIndexOf("\n", index) + 1, index);
    if (!functions.has(name) || NO_CALL.test(line)) return [];
    const args = argumentsAt(source, index + call.length);
    const isNamed = args.every((arg) => arg.includes("=>"));
    if (args.length <= MAX_POSITIONAL || isNamed) return [];
    const number = source.slice(0, index).split("\n").length;
    return [`${path}:${number}: call ${name}() with named arguments: p_name => value`];
  });
}

/** Splits the arguments that begin here at their commas; those in parentheses or texts are kept. */
function argumentsAt(source: string, start: number): string[] {
  const args = [""];
  for (let depth = 1, at = start; at < source.length; at++) {
    const end = endOfToken(source, at);
    const token = source.slice(at, end);
    if (token === "(" || token === "[") depth += 1;
    if (token === ")" || token === "]") depth -= 1;
    if (depth === 0) break;
    if (token === "," && depth === 1) args.push("");
    else args[args.length - 1] += token;
    at = end - 1;
  }
  return args;
}

/** A text in quotes and `${…}` are one token each, any other character is one. */
function endOfToken(source: string, at: number): number {
  if (source[at] === "'") return source.indexOf("'", at + 1) + 1 || source.length;
  if (!source.startsWith("${", at)) return at + 1;
  let depth = 0;
  for (let end = at + 1; end < source.length; end++) {
    if (source[end] === "{") depth += 1;
    if (source[end] === "}") depth -= 1;
    if (depth === 0) return end + 1;
  }
  return source.length;
}
