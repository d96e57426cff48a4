import { capBody } from "../../shared/platform/net/cap_body.ts";
import { readNamedFile } from "../files/read_named_file.ts";
import { CommandError } from "../cli/run_command.ts";

const TIMEOUT_MS = 15_000;
/** Maximum size of a description; a registry's page of search results is far smaller. */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * Reads a description from a file or an address.
 *
 * @throws CommandError with the reason if it cannot be read.
 */
export async function readDescription(
  source: string,
  { maxBytes = MAX_BYTES }: { readonly maxBytes?: number } = {},
): Promise<string> {
  if (!/^https?:\/\//.test(source)) return await readNamedFile(source);
  try {
    return await fetchText(source, maxBytes);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`Cannot read ${source}: ${reason}`, { cause });
  }
}

async function fetchText(url: string, maxBytes: number): Promise<string> {
  const headers = { accept: "application/json" };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.ok) return await capBody(response, maxBytes).text();
  await response.body?.cancel();
  throw new CommandError(`Cannot read ${url}: it answers HTTP ${response.status}`);
}
