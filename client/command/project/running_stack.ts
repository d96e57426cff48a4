import { connect } from "node:net";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { readOptional } from "./read_files.ts";

/** Folder of what the programs need and keep in a project; git ignores it. */
export const DATA_FOLDER = ".supaswarm";

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of data, keys and files of the stack that runs in a project's folder. */
export function dataFolderOf(root: string, environment: Environment): string {
  return environment["SUPASWARM_DATA_DIR"] || join(root, DATA_FOLDER);
}

/** Addresses and keys of the stack that uses a data folder; null when none runs. */
export async function runningStack(folder: string): Promise<Environment | null> {
  const variables = parseEnv(await readOptional(join(folder, "project.env")) ?? "");
  // A stack that was killed leaves its file behind.
  const { SUPABASE_URL: url } = variables;
  return url !== undefined && await isListening(new URL(url)) ? variables : null;
}

function isListening({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on("connect", () => end(true)).on("error", () => end(false));
  });
}
