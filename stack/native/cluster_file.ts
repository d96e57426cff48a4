import { z } from "../../shared/vendor/zod.js";

/** Settings of a prepared cluster, kept until the folder is deleted. */
const clusterFileSchema = z.object({
  /** Password of the roles postgres and supabase_admin. */
  password: z.string().min(1),
  /** Hash of the platform SQL that prepared the cluster. */
  platform_hash: z.string(),
});

/** The contents of `cluster.json`. */
export type ClusterFile = z.infer<typeof clusterFileSchema>;

/**
 * Reads the file. Returns null when the cluster is not completely prepared: the file is written
 * last.
 */
export async function readClusterFile(path: string): Promise<ClusterFile | null> {
  try {
    return clusterFileSchema.parse(JSON.parse(await Deno.readTextFile(path)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Marks the cluster as prepared. Only the owner can read the file. */
export async function writeClusterFile(path: string, content: ClusterFile): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
}

/** Creates a password that needs no escaping in a connection string. */
export function newPassword(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}
