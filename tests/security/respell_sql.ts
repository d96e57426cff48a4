/** A token of SQL, with the detail that respelling needs. */
interface Token {
  readonly kind: "word" | "space" | "fixed";
  readonly text: string;
}

/** Strings with their prefix, dollar quotes, quoted names, comments, numbers, words, the rest. */
const TOKENS =
  /(?<fixed>(?:[eEbBxXnN]|[uU]&)?'(?:[^']|'')*'(?:\s*\n\s*'(?:[^']|'')*')*|(?:[uU]&)?"(?:[^"]|"")*"|(?<tag>\$[A-Za-z_]*\$)[\s\S]*?\k<tag>|--[^\n]*\n?|\/\*[\s\S]*?\*\/|\$?\d[\w.]*|[^\w\s"'$]+)|(?<space>\s+)|(?<word>[A-Za-z_][\w$]*)/g;

/** Names in the corpus that are not keywords, so that quotes do not change them. */
const QUOTABLE = new Set([
  "products",
  "customers",
  "todos",
  "pg_sleep",
  "pg_read_file",
  "pg_notify",
  "pg_authid",
  "set_config",
  "query_to_xml",
  "nextval",
]);

const FILLERS = [
  " ",
  "\n",
  "\t ",
  " /* ; DROP TABLE x */ ",
  " -- ' \" $$\n",
  " /* /* nested */ */ ",
];

/**
 * The same statement in another spelling: unquoted words in random case, names in
 * quotes, and comments and white space between tokens.
 */
export function respellSql(sql: string, random: () => number): string {
  const tokens = tokensOf(sql);
  return tokens.map((token, index) => {
    if (token.kind === "space") return respellSpace(tokens, index, random);
    return token.kind === "word" ? respellWord(token.text, random) : token.text;
  }).join("");
}

function tokensOf(sql: string): Token[] {
  return [...sql.matchAll(TOKENS)].map(({ 0: text, groups }) => ({
    text,
    kind: groups?.word !== undefined ? "word" : groups?.space !== undefined ? "space" : "fixed",
  }));
}

/** Only a line break between two strings joins them, so that space is kept. */
function respellSpace(tokens: readonly Token[], index: number, random: () => number): string {
  const around = [tokens[index - 1], tokens[index + 1]];
  if (around.some((token) => token?.text.endsWith("'"))) return tokens[index]?.text ?? "";
  return FILLERS[Math.floor(random() * FILLERS.length)] ?? " ";
}

function respellWord(word: string, random: () => number): string {
  if (QUOTABLE.has(word) && random() < 0.5) return `"${word}"`;
  return [...word].map((letter) => random() < 0.5 ? letter.toUpperCase() : letter.toLowerCase())
    .join("");
}
