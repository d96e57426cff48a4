/** Modules that may parse text without limits: the guard itself, and the project's own settings. */
const MAY_PARSE: ReadonlySet<string> = new Set([
  "shared/platform/json/parse_json.ts",
  "shared/platform/config/env_variables.ts",
]);

/**
 * `JSON.parse` of anything except a value that was just encoded, and bodies parsed by the runtime.
 */
const UNMEASURED = /\bJSON\.parse\((?!JSON\.stringify\()|(?<!\bz)\.json\(\)/g;

/** Finds places where a module parses JSON without limits. */
export function unmeasuredJson(path: string, source: string): string[] {
  if (MAY_PARSE.has(path)) return [];
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  return [...code.matchAll(UNMEASURED)].map(([call]) =>
    `${path} parses JSON by ${call}…: use parseJson() of shared/platform/json/parse_json.ts`
  );
}
