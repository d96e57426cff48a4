import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { MAX_FILE_COUNT, MAX_TOTAL_BYTES } from "./archive_limits.ts";

/** An archive that is not in its format. */
export function damagedArchive(problem: string, cause?: unknown): SwarmError {
  return new SwarmError("SKILL_INVALID", `Cannot read the archive: ${problem}`, {
    cause,
    hint: "Download or create the archive again.",
  });
}

/** An archive above the limits of an import. */
export function largeArchive(): SwarmError {
  return new SwarmError(
    "SKILL_INVALID",
    "Cannot read the archive: its unpacked content is too large",
    { hint: `Reduce it to at most ${MAX_FILE_COUNT} files and ${MAX_TOTAL_BYTES} bytes.` },
  );
}
