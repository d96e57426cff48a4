import type { z } from "../../vendor/zod.js";

/** Lists the problems of a value, one sentence per position, each starting with its path. */
export function describeIssues(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = issue.path.map(String).join(".");
    const message = isMissing(issue) ? "it is required but missing" : issue.message;
    return path === "" ? message : `${path}: ${message}`;
  });
}

/** Zod has no specific issue for a missing member. */
function isMissing({ code, message }: z.ZodError["issues"][number]): boolean {
  return code === "invalid_type" && message.endsWith("received undefined");
}
