import type { z } from "zod";

/** Lists what a value has wrong, one sentence a place, each beginning with the place's path. */
export function describeIssues(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = issue.path.map(String).join(".");
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
}
