import { join } from "node:path";
import { readDefinitions } from "../../shared/engine/definitions/read_definitions.ts";
import { loadYaml } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { readFolder } from "../push/read_folder.ts";
import { configSchemasMigration } from "../schemas/config_schemas_migration.ts";
import { fileJsonSchemas } from "../schemas/file_json_schemas.ts";
import { withSeededDefinitions } from "../schemas/seeded_definitions.ts";
import { yamlParser } from "../yaml/parse_yaml.ts";
import { type GeneratedFiles, readCurrent } from "./generated_files.ts";

const SEED = "supabase/seed.sql";
const FOLDER = "agents";

/** The JSON Schemas of tools and of files in `agents/`, and the seed from these files. */
export async function schemaFiles(): Promise<GeneratedFiles> {
  const schemas = Object.entries(fileJsonSchemas())
    .map(([name, text]) => [`${FOLDER}/schemas/${name}`, text] as const);
  return {
    "supabase/schemas/gateway/config_schemas.sql": configSchemasMigration(),
    [SEED]: withSeededDefinitions(await readCurrent(SEED), await demoDefinitions()),
    ...Object.fromEntries(schemas),
  };
}

async function demoDefinitions() {
  const parseYaml = yamlParser(await loadYaml());
  const files = await readFolder(join(PROJECT_ROOT, FOLDER));
  const { definitions, problems } = readDefinitions(files, parseYaml);
  if (problems.length === 0) return definitions;
  throw new Error(problems.map(({ path, message }) => `${FOLDER}/${path}: ${message}`).join("\n"));
}
