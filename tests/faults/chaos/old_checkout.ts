import { PROJECT_ROOT } from "../../../scripts/project_root.ts";

const MIGRATIONS = "supabase/migrations";
/** What a worker imports. */
const FOLDERS = ["client", "scripts", "shared", "stack", "tests"];

/** The sources of another commit in a folder, which is deleted at the end of its scope. */
export interface OldCheckout extends AsyncDisposable {
  readonly folder: string;
}

/**
 * Finds the oldest commit in a row whose workers expect the database of these sources: the one that
 * has last changed the migrations.
 *
 * @returns undefined if the migrations have changed since, or if Git or its history is not here.
 */
export async function findCommitOfSchema(): Promise<string | undefined> {
  const commit = (await git("log", "-1", "--format=%H", "--", MIGRATIONS))?.trim() ?? "";
  if (commit === "") return undefined;
  const change = await git("status", "--porcelain", "--", MIGRATIONS);
  return change === "" ? commit : undefined;
}

async function git(...args: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command("git", {
      args: [...args],
      cwd: PROJECT_ROOT,
    }).output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Writes the sources of a commit into a temporary folder.
 *
 * @throws Error if Git does not know the commit.
 */
export async function openOldCheckout(commit: string): Promise<OldCheckout> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm_old_checkout_" });
  const archive = new Deno.Command("git", {
    args: ["archive", "--format=tar", commit, "deno.json", ...FOLDERS],
    cwd: PROJECT_ROOT,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const unpack = new Deno.Command("tar", { args: ["x", "-C", folder], stdin: "piped" }).spawn();
  const [{ success }, problem] = await Promise.all([
    archive.status,
    new Response(archive.stderr).text(),
    archive.stdout.pipeTo(unpack.stdin),
    unpack.status,
  ]);
  if (!success) throw new Error(`Cannot read the commit "${commit}": ${problem.trim()}`);
  return {
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
