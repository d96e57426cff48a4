import { SwarmError } from "../shared/platform/errors/swarm_error.ts";

/**
 * Creates the data folder and checks that it can be written, before anything else is started.
 *
 * @throws SwarmError CONFIG_INVALID
 */
export async function assertWritable(dataDir: string): Promise<void> {
  try {
    await Deno.mkdir(dataDir, { recursive: true });
    const probe = `${dataDir}/.write-test-${crypto.randomUUID()}`;
    await Deno.writeTextFile(probe, "");
    await Deno.remove(probe);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SwarmError("CONFIG_INVALID", `Cannot write the data folder ${dataDir}: ${reason}`, {
      hint: "Set SUPASWARM_DATA_DIR to a folder that this user can write to.",
      cause,
    });
  }
}
