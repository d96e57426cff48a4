import type { z } from "../../vendor/zod.js";
import type { ValueProblem } from "./definition.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";

/**
 * Describes the issues of a file: each with its key, what is wrong, and for an unknown key or value
 * the nearest known one.
 *
 * @param keysAt The known keys at a path.
 */
export function describeFileIssues(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): ValueProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String).join(".");
    const prefix = path === "" ? "" : `${path}: `;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        at: [...issue.path, key],
        message: `${prefix}unknown key "${key}"${suggestion(key, keysAt(issue.path))}`,
      }));
    }
    return [{ at: issue.path, message: messageOf(issue, prefix, valueAt(value, issue.path)) }];
  });
}

function messageOf(issue: z.core.$ZodIssue, prefix: string, actual: unknown): string {
  if (actual === undefined) return `${prefix || "the file: "}it is required but missing`;
  const allowed = allowedValues(issue);
  if (allowed !== null) {
    return `${prefix}${JSON.stringify(actual)}${suggestion(String(actual), allowed)}`;
  }
  return `${prefix}${issue.code === "invalid_union" ? unionMessage(issue) : issue.message}`;
}

/** The values of an enum, or those that choose one of several forms; null for other issues. */
function allowedValues(issue: z.core.$ZodIssue): readonly string[] | null {
  if (issue.code === "invalid_value") return issue.values.map(String);
  if (issue.code === "invalid_union" && "options" in issue) return issue.options.map(String);
  return null;
}

function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = nearestNames(name, known, 1);
  const question = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `${question} Allowed are ${known.join(", ")}`.replace(/^ /, ". ");
}

/** The problem of the alternative that fits best: the one that fails deepest. */
function unionMessage(issue: z.core.$ZodIssueInvalidUnion): string {
  const best = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a))[0]?.[0];
  if (best === undefined) return issue.message;
  const path = best.path.map(String).join(".");
  return path === "" ? best.message : `${path}: ${best.message}`;
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map(({ path }) => path.length));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}
