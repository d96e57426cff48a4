import { buildRegistry, leftFiles } from "../registry/build_registry.ts";
import type { GeneratedFiles } from "./generated_files.ts";

/** What the shadcn command installs from, made from `registry/registry.json`. */
export async function registryFiles(): Promise<GeneratedFiles> {
  const built = await buildRegistry();
  const left = await leftFiles(built);
  return Object.fromEntries([
    ...left.map((path) => [`registry/${path}`, null] as const),
    ...built.map(({ path, text }) => [`registry/${path}`, text] as const),
  ]);
}
