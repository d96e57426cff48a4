// deno-lint-ignore-file explicit-module-boundary-types -- the type of a loader is that of its package
/** Every third-party package that only tests use, named once, pinned and loaded when called. */

import { fileURLToPath } from "node:url";

export const loadFastCheck = () => import("npm:fast-check@4.10.2");
export const loadMcpServer = () => import("npm:@modelcontextprotocol/server@2.4.0");
export const loadSupabaseServer = () => import("npm:@supabase/server@1.8.1");

export { loadSupabaseJs, type RealtimeChannel, type SupabaseClient } from "../scripts/deps.ts";

/** Folders of packages that ship skills of their own, as other people write them. */
export async function resolvePackagesWithSkills(): Promise<readonly string[]> {
  await import("npm:dotenv@17.4.2");
  return [
    import.meta.resolve("npm:dotenv@17.4.2"),
    import.meta.resolve("npm:@supabase/server@1.8.1"),
  ]
    .map((entry) => fileURLToPath(new URL("skills", entry.replace(/(\/\d[^/]*\/).*$/, "$1"))));
}
