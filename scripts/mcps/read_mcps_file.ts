import type { z } from "../../shared/vendor/zod.js";
import { nearestNames } from "../../shared/platform/values/nearest_names.ts";
import type { YamlModule } from "../deps.ts";
import { type LineProblem, readYamlFile, YamlFileError } from "../yaml/read_located_yaml.ts";
import { knownKeysAt, type McpEntry, mcpsFileSchema } from "./mcps_file_schema.ts";

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
  const { value, lineOf } = readYamlFile(text, fileName, yaml);
  const parsed = mcpsFileSchema.safeParse(value);
  if (!parsed.success) throw new YamlFileError(fileName, parsed.error.issues.flatMap(problemsOf));
  return Object.entries(parsed.data.mcps).map(([slug, entry]) => ({
    slug,
    entry,
    line: lineOf(["mcps", slug]),
    credentialLine: (key) => lineOf(["mcps", slug, "credentials", key]),
  }));

  function problemsOf(issue: z.core.$ZodIssue): LineProblem[] {
    const path = issue.path;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        line: lineOf([...path, key]),
        message: `${nameOf([...path, key])}: unknown key${didYouMean(key, path)}`,
      }));
    }
    const message = issue.code === "invalid_key"
      ? issue.issues[0]?.message ?? issue.message
      : issue.message;
    return [{ line: lineOf(path), message: `${nameOf(path)}: ${message}` }];
  }
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the file" : path.map(String).join(".");
}

function didYouMean(key: string, path: readonly PropertyKey[]): string {
  const known = knownKeysAt(path);
  const [nearest] = nearestNames(key, known, 1);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return known.length === 0 ? "" : `; there are: ${known.join(", ")}`;
}
