import type { McpEntry } from "../../shared/gateway/mcps_file/mcps_file_schema.ts";
import { readMcps } from "../../shared/gateway/mcps_file/read_mcps.ts";
import type { YamlModule } from "../deps.ts";
import { readYamlFile } from "../yaml/read_located_yaml.ts";

/** An entry, with the lines at which its problems are reported. */
export interface ReadEntry {
  readonly slug: string;
  readonly entry: McpEntry;
  /** Counted from 1. */
  readonly line: number;
  /** Line of a key of `credentials`. */
  credentialLine(key: string): number;
}

/**
 * Reads the text of an `external-mcps.yaml`. A file with any problem is rejected as a whole.
 *
 * @throws YamlFileError with every problem and its line.
 */
export function readMcpsFile(
  text: string,
  fileName: string,
  yaml: YamlModule,
): readonly ReadEntry[] {
  const { value, lineOf, problems } = readYamlFile(text, fileName, yaml);
  const read = readMcps(value);
  if (read.kind === "invalid") throw problems(read.problems);
  return Object.entries(read.mcps).map(([slug, entry]) => ({
    slug,
    entry,
    line: lineOf(["mcps", slug]),
    credentialLine: (key) => lineOf(["mcps", slug, "credentials", key]),
  }));
}
