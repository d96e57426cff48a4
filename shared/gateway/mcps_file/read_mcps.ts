import type { z } from "../../vendor/zod.js";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { knownKeysAt, type McpEntry, mcpsFileSchema } from "./mcps_file_schema.ts";

/** What is wrong with a value of the file, and where. */
export interface McpsProblem {
  readonly at: readonly PropertyKey[];
  /** Names the value. */
  readonly message: string;
}

/** The entries of an `external-mcps.yaml`, or everything that is wrong with it. */
export type ReadMcps =
  | { readonly kind: "read"; readonly mcps: Readonly<Record<string, McpEntry>> }
  | { readonly kind: "invalid"; readonly problems: readonly McpsProblem[] };

/** Checks the value of an `external-mcps.yaml`. A value with any problem is rejected as a whole. */
export function readMcps(value: unknown): ReadMcps {
  const parsed = mcpsFileSchema.safeParse(value);
  return parsed.success
    ? { kind: "read", mcps: parsed.data.mcps }
    : { kind: "invalid", problems: parsed.error.issues.flatMap(problemsOf) };
}

function problemsOf(issue: z.core.$ZodIssue): McpsProblem[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const at = [...path, key];
      return { at, message: `${nameOf(at)}: unknown key${didYouMean(key, path)}` };
    });
  }
  const message = issue.code === "invalid_key"
    ? issue.issues[0]?.message ?? issue.message
    : issue.message;
  return [{ at: path, message: `${nameOf(path)}: ${message}` }];
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
