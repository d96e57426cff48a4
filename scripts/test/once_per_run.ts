import { dirname, join } from "node:path";
import { isProcessAlive } from "../../stack/database/folder_lock.ts";

const VARIABLE = "SUPASWARM_TEST_RUN_FOLDER";
/** Followed by the id of the process that deletes the folder. */
const PREFIX = "supaswarm-run-";

/** The folder of a run of the suite, which is deleted at its end. */
export interface RunFolder extends AsyncDisposable {
  /** The environment with which test processes find the folder, and create temporary files in it. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Creates the folder of a run of the suite, and removes those of runs that were killed.
 *
 * @param dir Where to create it. @default the folder for temporary files
 */
export async function createRunFolder(dir?: string): Promise<RunFolder> {
  const path = await Deno.makeTempDir({
    prefix: `${PREFIX}${Deno.pid}-`,
    ...dir === undefined ? {} : { dir },
  });
  await removeAbandoned(dirname(path));
  return {
    env: { [VARIABLE]: path, TMPDIR: path },
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

async function removeAbandoned(parent: string): Promise<void> {
  for await (const { name } of Deno.readDir(parent)) {
    const [, pid] = name.match(new RegExp(`^${PREFIX}(\\d+)-`)) ?? [];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    // Another run may remove it at the same time.
    await Deno.remove(join(parent, name), { recursive: true }).catch(() => {});
  }
}

/**
 * Returns a folder whose content several test processes need and only the first one makes. Without a
 * run of the suite, for example under `deno test`, each call makes its own.
 */
export async function oncePerRun(
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<{ readonly folder: string } & AsyncDisposable> {
  const run = Deno.env.get(VARIABLE);
  if (run === undefined) {
    const folder = await Deno.makeTempDir({ prefix: `supaswarm-${name}-` });
    await make(folder);
    return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  }
  const folder = join(run, name);
  using lock = await Deno.open(`${folder}.lock`, { create: true, write: true });
  await lock.lock(true);
  try {
    await makeIn(folder, make);
  } finally {
    await lock.unlock();
  }
  // The others need it until the run ends.
  return { folder, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function makeIn(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (await Deno.stat(folder).then(() => true, () => false)) return;
  // A maker that fails leaves nothing, so that the next one tries again.
  const unfinished = await Deno.makeTempDir({ dir: join(folder, ".."), prefix: "unfinished-" });
  await make(unfinished);
  await Deno.rename(unfinished, folder);
}
