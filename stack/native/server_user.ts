import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { type ProgramResult, tryProgram } from "./run_program.ts";

/** Runs the server's programs, as another user if this process is root. */
export interface ServerUser {
  /** Lets that user pass through a folder without listing it. */
  admit(folder: string): Promise<void>;
  /** Runs a program as that user. */
  run(command: readonly [string, ...string[]]): Promise<ProgramResult>;
  /** Makes that user the owner of a file, or of a folder and its content. */
  own(path: string): Promise<void>;
}

/** Users that may run the server instead of root, best first. */
const CANDIDATES = ["postgres", "nobody"];

const SAME_USER: ServerUser = {
  run: (command) => tryProgram(command),
  own: () => Promise.resolve(),
  admit: () => Promise.resolve(),
};

/**
 * Finds the user who runs the server. Postgres refuses to run as root; any other user runs it
 * directly.
 *
 * @throws SwarmError `CONFIG_INVALID` when this process is root and no other user exists.
 */
export async function serverUser(): Promise<ServerUser> {
  if (Deno.uid() !== 0) return SAME_USER;
  for (const candidate of CANDIDATES) {
    const group = await tryProgram(["id", "-gn", candidate]);
    if (group.ok) return otherUser(candidate, group.stdout);
  }
  throw new SwarmError(
    "CONFIG_INVALID",
    "Cannot run Postgres as root, and no other user was found",
    {
      hint: `Create one of the users ${CANDIDATES.join(", ")}, or start as another user.`,
    },
  );
}

function otherUser(name: string, group: string): ServerUser {
  const prefix = [
    "setpriv",
    `--reuid=${name}`,
    `--regid=${group}`,
    "--clear-groups",
    "--",
  ] as const;
  return {
    // Start in a folder that every user may enter; the current folder may be closed to that user.
    run: (command) => tryProgram([...prefix, ...command], { cwd: "/" }),
    admit: async (folder) => {
      const mode = (await Deno.stat(folder)).mode ?? 0o700;
      await Deno.chmod(folder, (mode & 0o7777) | 0o001);
    },
    own: async (path) => {
      const { ok, output } = await tryProgram(["chown", "-R", `${name}:${group}`, path]);
      if (!ok) throw new SwarmError("CONFIG_INVALID", `Cannot give ${path} to ${name}: ${output}`);
    },
  };
}

/**
 * Checks that the server's user can enter a folder. Root's home folder, for example, is closed.
 *
 * @throws SwarmError `CONFIG_INVALID` with the folder and the variable that moves it.
 */
export async function requireReachable(
  user: ServerUser,
  folder: string,
  variable: string,
): Promise<void> {
  if ((await user.run(["test", "-x", folder])).ok) return;
  throw new SwarmError(
    "CONFIG_INVALID",
    `Cannot start native Postgres: its user cannot enter ${folder} or a folder above it`,
    { hint: `Set ${variable} to a folder that every user may enter, or start as another user.` },
  );
}
