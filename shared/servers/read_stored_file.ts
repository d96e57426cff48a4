import { SwarmError } from "../platform/errors/swarm_error.ts";
import { readText } from "../platform/net/read_text.ts";
import type { ToolContext } from "../gateway/tool_contracts/internal_server.ts";

/** Maximum bytes of a stored file that one call returns. */
export const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads a text file of the bucket `supaswarm-data` with the project's own key. The caller's
 * permission must have been checked before.
 *
 * @throws SwarmError `STORAGE_UNAVAILABLE`
 */
export async function readStoredFile(
  path: string,
  { supabaseUrl, secretKey, signal }: Pick<ToolContext, "supabaseUrl" | "secretKey" | "signal">,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const object = path.split("/").map(encodeURIComponent).join("/");
  const response = await fetch(`${supabaseUrl}/storage/v1/object/supaswarm-data/${object}`, {
    headers: { apikey: secretKey, authorization: `Bearer ${secretKey}` },
    signal,
    redirect: "error",
  });
  if (response.ok) return await readText(response, MAX_FILE_BYTES);
  await response.body?.cancel();
  throw new SwarmError(
    "STORAGE_UNAVAILABLE",
    `Cannot read the file '${path}' now (HTTP ${response.status})`,
    { hint: "Try again later; it may have been deleted since." },
  );
}
