import { waitFor } from "../wait_for.ts";

/**
 * Waits until the platform has the tools of an MCP server: an agent waits only some seconds for the
 * first list, and on a slow machine would begin without it.
 */
export async function untilListed(
  { apiUrl, secretKey }: { readonly apiUrl: string; readonly secretKey: string },
  server: string,
): Promise<void> {
  await waitFor(async () => {
    const answer = await fetch(`${apiUrl}/functions/v1/mcp-execute?server=${server}`, {
      headers: { apikey: secretKey },
    });
    await answer.body?.cancel();
    return answer.ok;
  }, { what: `the tools of ${server}`, intervalMs: 250 });
}
