import { CommandError } from "../../cli/run_command.ts";
import type { YamlModule } from "../../deps.ts";
import { parseYamlDocument } from "../../yaml/parse_yaml.ts";
import { type Part, partOf, textOf } from "./openapi_parts.ts";

/** Maximum size of a document. The largest public ones have about 10 MB. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Uses of anchors; a text that means more than this is no description. */
const MAX_ALIASES = 10_000;

/**
 * Reads an OpenAPI document, JSON or YAML.
 *
 * @throws CommandError with the line and the problem if it is none.
 */
export function readOpenApi(text: string, source: string, yaml: YamlModule): Part {
  const document = partOf(parse(text.replace(/^\uFEFF/, ""), source, yaml));
  const version = textOf(document.openapi) || textOf(document.swagger);
  if (Object.keys(partOf(document.paths)).length > 0) return document;
  if (version === "") {
    throw new CommandError(
      `Cannot import ${source}: it is not an OpenAPI document: openapi: (or swagger:) and paths: are missing`,
    );
  }
  throw new CommandError(`Cannot import ${source}: the document has no paths`);
}

function parse(text: string, source: string, yaml: YamlModule): unknown {
  if (text.length > MAX_CHARACTERS) {
    throw new CommandError(
      `Cannot import ${source}: it is larger than ${MAX_CHARACTERS} characters`,
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    // Then it is YAML, whose problems have lines.
  }
  const { document, problems: [problem] } = parseYamlDocument(text, yaml, {
    maxCharacters: MAX_CHARACTERS,
  });
  if (problem !== undefined) {
    throw new CommandError(
      `Cannot import ${source}:${problem.line}: it is neither JSON nor YAML: ${problem.message}`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw new CommandError(`Cannot import ${source}: it uses its anchors too often`, { cause });
  }
}
