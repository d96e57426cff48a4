import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { SkillFile } from "../../shared/engine/skills/skill.ts";
import { loadFflate } from "../deps.ts";
import { damagedArchive, largeArchive } from "./archive_errors.ts";
import { MAX_FILE_BYTES, MAX_FILE_COUNT, MAX_TOTAL_BYTES } from "./archive_limits.ts";

/**
 * Unpacks a zip archive into memory and writes nothing to disk.
 *
 * @throws SKILL_INVALID when it is damaged or larger than the limits of an import.
 */
export async function readZip(archive: Uint8Array): Promise<readonly SkillFile[]> {
  const { unzipSync } = await loadFflate();
  let fileCount = 0;
  let totalBytes = 0;
  try {
    const entries = unzipSync(archive, {
      // Check before unpacking, because a small archive can have a huge content.
      filter: ({ name, originalSize }) => {
        if (name.endsWith("/")) return false;
        fileCount++;
        totalBytes += originalSize;
        if (
          fileCount > MAX_FILE_COUNT || originalSize > MAX_FILE_BYTES ||
          totalBytes > MAX_TOTAL_BYTES
        ) throw largeArchive();
        return true;
      },
    });
    return Object.entries(entries).map(([path, bytes]) => ({ path, bytes }));
  } catch (cause) {
    if (cause instanceof SwarmError) throw cause;
    throw damagedArchive("it is not a valid zip file", cause);
  }
}
