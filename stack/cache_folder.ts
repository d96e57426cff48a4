import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "./stack_environment.ts";

/** Used where the user has no folder for caches, for example in a container without a home. */
const INSTALLATION_CACHE = fileURLToPath(new URL("../.supaswarm/cache/", import.meta.url));

/**
 * Returns the folder of snapshots, which all projects and releases of a user share: the chosen one,
 * or one in the user's folder for caches, which it creates for its owner only.
 *
 * @param chosen @default the variable `SUPASWARM_CACHE_DIR` of this process
 */
export async function cacheFolder(
  chosen: string | undefined = Deno.env.get("SUPASWARM_CACHE_DIR"),
): Promise<string> {
  if (chosen) return chosen;
  const folder = userCacheFolder(Deno.env.toObject(), Deno.build.os);
  if (folder === null) return INSTALLATION_CACHE;
  const isUsable = await Deno.mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => Deno.makeTempDir({ dir: folder, prefix: "probe-" }))
    .then((probe) => Deno.remove(probe))
    .then(() => true, () => false);
  return isUsable ? folder : INSTALLATION_CACHE;
}

/** Null where the variables name no home. */
export function userCacheFolder(
  { XDG_CACHE_HOME: xdg, HOME: home, LOCALAPPDATA: local }: Partial<Environment>,
  os: typeof Deno.build.os,
): string | null {
  // The specification says that a relative path must be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "supaswarm");
  if (os === "windows") return local ? join(local, "supaswarm", "cache") : null;
  if (!home) return null;
  return os === "darwin"
    ? join(home, "Library", "Caches", "supaswarm")
    : join(home, ".cache", "supaswarm");
}
