import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";
import type { Logger } from "../platform/log/logger.ts";
import type { LogEvent } from "../platform/log/log_events.ts";

/** How a failure of work after the response is reported. */
export interface BackgroundFailure {
  /** For example "announce the project". */
  readonly attempted: string;
  /** The event that is logged with the error's code. */
  readonly event: LogEvent & `${string}_not_${"announced" | "removed"}`;
  readonly log: Logger;
}

/** Runs work after the response. A failure is only logged, because a later request tries again. */
export function tryInBackground(
  work: Promise<unknown>,
  { attempted, event, log }: BackgroundFailure,
): void {
  runInBackground(
    work.catch((error) => log("warn", event, { code: toSwarmError(error, attempted).code })),
  );
}
