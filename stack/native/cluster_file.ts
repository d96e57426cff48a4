import { z } from "../../shared/vendor/zod.js";

/** What is known of a prepared cluster beside its data: kept until the folder is deleted. */
const clusterFileSchema = z.object({
  /** Of the roles postgres and supabase_admin. */
  password: z.string().min(1),
  /** Of the platform SQL that prepared it. */
  platform_hash: z.string(),
});

/** The contents of `cluster.json`. */
export type ClusterFile = z.infer<typeof clusterFileSchema>;

/** Reads the file, written last when a cluster is prepared; null before that. */
export async function readClusterFile(path: string): Promise<ClusterFile | null> {
  try {
    return clusterFileSchema.parse(JSON.parse(await Deno.readTextFile(path)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Declares the cluster prepared. Only the owner can read the file. */
export async function writeClusterFile(path: string, content: ClusterFile): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
}

/** A password that needs no escaping in a connection string. */
export function newPassword(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}
