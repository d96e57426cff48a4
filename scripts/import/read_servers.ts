import { join } from "node:path";
import type { YamlModule } from "../deps.ts";
import { type ReadEntry, readMcpsFile } from "../mcps/read_mcps_file.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { YamlFileError } from "../yaml/read_located_yaml.ts";

const FILE_NAME = "external-mcps.yaml";

/** The servers of external-mcps.yaml; none if it has problems, which a push reports. */
export async function readServers(yaml: YamlModule): Promise<readonly ReadEntry[]> {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, FILE_NAME)).catch(() => "mcps: {}");
  try {
    return readMcpsFile(text, FILE_NAME, yaml);
  } catch (error) {
    if (error instanceof YamlFileError) return [];
    throw error;
  }
}
