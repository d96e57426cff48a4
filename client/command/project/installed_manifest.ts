import { CommandError } from "../errors/command_error.ts";
import { type Manifest, MANIFEST_PATH, readManifest } from "./manifest.ts";

/**
 * The manifest of a project that has the platform.
 *
 * @param intent What the command does, for the message.
 * @throws CommandError `NOT_INSTALLED`
 */
export async function installedManifest(root: string, intent: string): Promise<Manifest> {
  const manifest = await readManifest(root);
  if (manifest !== null) return manifest;
  throw new CommandError(
    "NOT_INSTALLED",
    `Cannot ${intent}: this folder has no ${MANIFEST_PATH}`,
    "Run the command in the folder that contains supabase/, after supaswarm init.",
  );
}
