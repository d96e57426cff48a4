import { z } from "../../vendor/zod.js";
import type { JsonObject } from "../values/json.ts";
import { SwarmError } from "./swarm_error.ts";

/** A pause in force, as `private.pause_in_force()` returns it. */
export const workPauseSchema = z.object({
  kind: z.string(),
  name: z.string(),
  reason: z.string(),
});

/** A pause in force. */
export type WorkPause = z.infer<typeof workPauseSchema>;

/**
 * The error of work that waits for a pause. A task that gets it waits, and goes on after the pause.
 *
 * @param attempt Completes the sentence "Cannot …".
 */
export function workPaused(attempt: string, { kind, name, reason }: WorkPause): SwarmError {
  const message = `Cannot ${attempt}: an operator has paused the ${kind} "${name}" (${reason})`;
  return new SwarmError("WORK_PAUSED", message, { details: { kind, name } });
}

/** The `{kind, name}` of the pause that a `WORK_PAUSED` error names; `{}` if it names none. */
export function pauseOf({ details }: SwarmError): JsonObject {
  const named = workPauseSchema.pick({ kind: true, name: true }).safeParse(details);
  return named.success ? named.data : {};
}
