import { parseConfig } from "../project/project.ts";
import { parseToml, patchToml } from "../deps.ts";

/** The schemas that the CLI exposes when the configuration does not name any. */
const DEFAULT_SCHEMAS = ["public", "graphql_public"];

/**
 * Adds the platform to the text of a `config.toml`: exposes its schema, and appends a section for
 * each function that has none. Everything else, also comments, stays as it is.
 */
export function editConfig(
  text: string,
  schema: string,
  functions: readonly string[],
): string {
  const exposed = exposeSchema(text, schema);
  const { functions: existing = {} } = parseConfig(exposed);
  const sections = functions.filter((name) => !(name in existing)).map(functionSection);
  if (sections.length === 0) return exposed;
  return [exposed.trimEnd(), SECTIONS_COMMENT + sections.join("\n")]
    .filter((part) => part !== "").join("\n\n");
}

const SECTIONS_COMMENT =
  "# SupaSwarm. Its functions authenticate their callers themselves: API keys are not JWTs.\n";

function functionSection(name: string): string {
  return `[functions.${name}]\nverify_jwt = false\nimport_map = "./functions/${name}/deno.json"\n`;
}

function exposeSchema(text: string, schema: string): string {
  const schemas = parseConfig(text).api?.schemas ?? DEFAULT_SCHEMAS;
  if (schemas.includes(schema)) return text;
  // deno-lint-ignore no-explicit-any -- a document of any shape
  const config = parseToml(text) as any;
  const wanted = [...schemas, schema];
  if (config.api === undefined) {
    const list = wanted.map((name) => JSON.stringify(name)).join(", ");
    return `${text.trimEnd()}\n\n[api]\nschemas = [${list}]\n`.trimStart();
  }
  if (config.api.schemas === undefined) config.api.schemas = wanted;
  else config.api.schemas.push(schema);
  return patchToml(text, config);
}

/** Removes the platform from the text of a `config.toml` in which {@linkcode editConfig} added it. */
export function withdrawConfig(
  text: string,
  schema: string,
  functions: readonly string[],
): string {
  // deno-lint-ignore no-explicit-any -- a document of any shape
  const config = parseToml(text) as any;
  for (const name of functions) delete config.functions?.[name];
  if (schema !== "public" && Array.isArray(config.api?.schemas)) {
    config.api.schemas = config.api.schemas.filter((name: string) => name !== schema);
  }
  return patchToml(text, config).replace(SECTIONS_COMMENT, "");
}
