import { loadYaml } from "../../deps.ts";
import { readDescription } from "../../mcps/read_description.ts";
import { yamlParser } from "../../yaml/parse_yaml.ts";
import type { ImportPlan } from "../import_plan.ts";
import { isCurl } from "./curl_command.ts";
import { importCurl } from "./import_curl.ts";
import { importOpenApi, type OpenApiChoices } from "./import_openapi.ts";
import { readOpenApi } from "./read_openapi.ts";
import { readProjectSecrets } from "./read_project_secrets.ts";

/** The largest public descriptions have about 10 MB. */
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** What the command was given. */
export interface ToolImportInput extends Omit<OpenApiChoices, "secrets"> {
  readonly name: string | undefined;
  /** The folder of the definitions. */
  readonly folder: string;
}

/**
 * Plans the files of `agents/tools/` for an OpenAPI document, by its path or URL, or for one curl
 * command.
 *
 * @throws CommandError if the source cannot be read.
 */
export async function importToolFiles(input: ToolImportInput): Promise<ImportPlan> {
  const yaml = await loadYaml();
  const forms = {
    parseYaml: yamlParser(yaml),
    writeYaml: (value: unknown) => yaml.stringify(value, { aliasDuplicateObjects: false }),
  };
  const choices = { ...input, secrets: await readProjectSecrets(input.folder, yaml) };
  if (isCurl(input.source)) return importCurl(input.source, choices, forms);
  const text = await readDescription(input.source, { maxBytes: MAX_DOCUMENT_BYTES });
  return importOpenApi(readOpenApi(text, input.source, yaml), choices, forms);
}
