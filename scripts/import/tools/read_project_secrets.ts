import { join } from "node:path";
import { readDefinitions } from "../../../shared/engine/definitions/read_definitions.ts";
import { hostOf, toolSecrets } from "../../../shared/engine/definitions/tool_secrets.ts";
import { readEnvFile } from "../../../stack/stack_environment.ts";
import type { YamlModule } from "../../deps.ts";
import { PROJECT_ROOT } from "../../project_root.ts";
import { readFolder } from "../../push/read_folder.ts";
import { yamlParser } from "../../yaml/parse_yaml.ts";
import { readServers } from "../read_servers.ts";
import { ProjectSecrets, type SentSecret } from "./project_secrets.ts";

/** Reads which secrets the tools, the MCP servers and the `.env` of the project have. */
export async function readProjectSecrets(
  folder: string,
  yaml: YamlModule,
): Promise<ProjectSecrets> {
  return new ProjectSecrets(
    [...await secretsOfTools(folder, yaml), ...await secretsOfServers(yaml)],
    Object.keys(await readEnvFile(PROJECT_ROOT)),
  );
}

/** Those of each file that can be read; a push reports the others. */
async function secretsOfTools(folder: string, yaml: YamlModule): Promise<SentSecret[]> {
  const root = join(folder, "tools");
  const isFolder = await Deno.stat(root).then((info) => info.isDirectory, () => false);
  const files = isFolder ? await readFolder(root) : [];
  const { definitions } = readDefinitions(
    files.map(({ path, bytes }) => ({ path: `tools/${path}`, bytes })),
    yamlParser(yaml),
  );
  return definitions.flatMap(({ definition }) => {
    const { host = "", secrets = [] } = toolSecrets(definition) ?? {};
    return secrets.map((name) => ({ name, host }));
  });
}

async function secretsOfServers(yaml: YamlModule): Promise<SentSecret[]> {
  return (await readServers(yaml)).flatMap(({ entry }) => {
    const host = entry.url === undefined ? null : hostOf(entry.url);
    return host === null ? [] : Object.values(entry.credentials).map((name) => ({ name, host }));
  });
}
