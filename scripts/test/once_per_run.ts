import { join } from "node:path";

const VARIABLE = "SUPASWARM_TEST_RUN_FOLDER";

/** The folder of a run of the suite, which is deleted at its end. */
export interface RunFolder extends AsyncDisposable {
  /** The environment with which test processes find the folder. */
  readonly env: Readonly<Record<string, string>>;
}

/** Creates the folder of a run of the suite. */
export async function createRunFolder(): Promise<RunFolder> {
  const path = await Deno.makeTempDir({ prefix: "supaswarm-run-" });
  return {
    env: { [VARIABLE]: path },
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
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
