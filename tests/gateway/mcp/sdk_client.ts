import type { Client } from "../../../shared/vendor/mcp_client.js";
import { loadMcpClient } from "../../deps.ts";

/** A connected client of the official SDK. */
export interface SdkClient extends AsyncDisposable {
  readonly client: Client;
}

/** How a client connects. */
export interface SdkClientOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** @default "auto" */
  readonly era?: "auto" | "legacy";
}

/** Connects the official SDK's client. */
export async function connectSdkClient(options: SdkClientOptions): Promise<SdkClient> {
  // The vendored client lacks the methods for prompts and resources.
  const { Client, StreamableHTTPClientTransport } = await loadMcpClient();
  const client = new Client({ name: "test-client", version: "1.0.0" }, {
    versionNegotiation: { mode: options.era ?? "auto" },
  });
  const transport = new StreamableHTTPClientTransport(new URL(options.url), {
    requestInit: { headers: { ...options.headers } },
  });
  await client.connect(transport);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}
