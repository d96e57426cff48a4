import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** A line of a file. */
export interface FilePlace {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
}

const placeSchema = z.object({ path: z.string(), line: z.number() });

/** The error SKILL_INVALID of a file that cannot be read. */
export function unreadable(
  { path, line }: FilePlace,
  problem: string,
  { hint, cause }: { readonly hint: string; readonly cause?: unknown },
): SwarmError {
  return new SwarmError("SKILL_INVALID", `Cannot read ${path}:${line}: ${problem}`, {
    hint,
    cause,
    details: { path, line },
  });
}

/** The problem of a file without its place, and the place if it is known. */
export function skillProblem(
  { message, details }: SwarmError,
): Partial<FilePlace> & { readonly message: string } {
  const place = placeSchema.safeParse(details).data;
  if (place === undefined) return { message };
  return { ...place, message: message.replace(`Cannot read ${place.path}:${place.line}: `, "") };
}
