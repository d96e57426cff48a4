import type { z } from "./vendor/zod.js";

/** Lists what a value has wrong, one sentence a place, each beginning with the place's path. */
export function describeIssues(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = issue.path.map(String).join(".");
    const message = isMissing(issue) ? "it is required but missing" : issue.message;
    return path === "" ? message : `${path}: ${message}`;
  });
}

/** Zod has no word of its own for a member that is not there. */
function isMissing({ code, message }: z.ZodError["issues"][number]): boolean {
  return code === "invalid_type" && message.endsWith("received undefined");
}
