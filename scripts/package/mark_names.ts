import { FUNCTION_NAMES } from "../../shared/platform/values/function_names.ts";
import { functionMarker, MARKERS } from "../../client/command/release/markers.ts";

/** A name with its schema, quoted or not, which is not a part of a longer name. */
const QUALIFIED = /(?<![\w."-])("?)(public|private)\1\.("?)(\w+|%[Is])/g;

/** The places where SQL and prose name only a schema. */
const SCHEMAS: readonly RegExp[] = [
  /\b(schema )(public|private)\b/g,
  /(')(public|private)(?='::regnamespace)/g,
  /(schema = ')(public)(?=', table = )/g,
  /(select ')(public)(?=', created\.name)/g,
  // The preflight's list of schemas.
  /(array\[\s*')(private)(?=', 'supaswarm_)/g,
];

/**
 * Replaces the names that a project can choose with markers: the schemas of the platform's own
 * relations, types and functions, wherever a qualified name is in code, texts and comments. Names
 * in `public` that are not the platform's stay as they are.
 *
 * @param text SQL, or TypeScript, where only texts contain such names.
 * @param own The names of the platform's objects in `public`.
 */
export function markNames(text: string, own: ReadonlySet<string>): string {
  const qualified = text.replaceAll(
    QUALIFIED,
    (whole, quote: string, schema: keyof typeof MARKERS, innerQuote: string, name: string) => {
      const isOwn = schema === "private" || name.startsWith("%") || own.has(name);
      return isOwn ? `${quote}${MARKERS[schema]}${quote}.${innerQuote}${name}` : whole;
    },
  );
  const marked = SCHEMAS.reduce((sql, pattern) =>
    sql.replaceAll(
      pattern,
      (_, before: string, schema: keyof typeof MARKERS) => `${before}${MARKERS[schema]}`,
    ), qualified);
  return marked.replaceAll("'{public}'", `'{${MARKERS.exposed}}'`);
}

/**
 * Marks the SQL of a release, also the names of edge functions that are texts of their own.
 *
 * @throws Error for a place that names a schema in a form that {@linkcode markNames} does not know
 */
export function markRelease(sql: string, own: ReadonlySet<string>): string {
  const marked = Object.values(FUNCTION_NAMES).reduce(
    (text, name) => text.replaceAll(`'${name}'`, `'${functionMarker(name)}'`),
    markNames(sql, own),
  );
  const left = marked.split("\n").filter(namesSchema);
  if (left.length > 0) {
    throw new Error(`Cannot tell whether these lines name a schema:\n${left.join("\n")}`);
  }
  return marked;
}

/** What `public` and `private` mean where they do not name the schema of the platform's objects. */
const OTHER_MEANINGS = [
  // The role of everybody.
  /\b(from|to) public\b/g,
  /\bthen 'public'/g,
  // Columns of Storage and Realtime.
  /\((id, name, public|id, topic, event, payload, private, extension)\)/g,
  /\bmessage\.private\b/g,
  // The search path of a user's own statements, who name their own tables.
  /\bset search_path = public, extensions\b/g,
  /'public, extensions'/g,
  // Words of a pattern, and of prose.
  /\bprivate\[/g,
  /\bfrom a private repository\b/g,
];

function namesSchema(line: string): boolean {
  if (/^\s*--/.test(line)) return false;
  const rest = OTHER_MEANINGS.reduce((text, pattern) => text.replaceAll(pattern, ""), line);
  // Prose is a text of several words, which begins with an uppercase letter or a keyword.
  return /\b(public|private)\b/.test(rest.replaceAll(/'(?:[^']|'')*\s(?:[^']|'')*'/g, ""));
}
