import { commandsLock } from "../locks/commands_lock.ts";
import { COMMANDS_LOCK, FULL_LOCK } from "../locks/lock_files.ts";
import { type GeneratedFiles, readCurrent } from "./generated_files.ts";

/** They pin every package of the commands. */
const PINS = ["client/command/deps.ts", "scripts/deps.ts", "stack/deps.ts"];

/**
 * The lock file of what users run, which is the part of the full one that {@linkcode PINS} import.
 * Deno adds to it what it meets, unless a command has `--lock=tests/deno.lock`.
 */
export async function lockFiles(): Promise<GeneratedFiles> {
  const full = await readCurrent(FULL_LOCK);
  return { [COMMANDS_LOCK]: commandsLock(full, await Promise.all(PINS.map(readCurrent))) };
}
