import type { Caller } from "./caller.ts";
import type { InternalTokens } from "./internal_tokens.ts";

/** Parts of a request that the gateway replaces. */
export interface RequestChanges {
  readonly url?: URL;
  readonly method?: string;
  readonly body?: BodyInit | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Creates the request for the service behind the gateway. It signs a user's token again with the
 * internal key, and removes all other credentials from `Authorization`.
 */
export async function toServiceRequest(
  request: Request,
  caller: Caller,
  tokens: InternalTokens,
  changes: RequestChanges = {},
): Promise<Request> {
  const headers = new Headers(request.headers);
  headers.delete("authorization");
  if (caller.kind === "user") {
    headers.set("authorization", `Bearer ${await tokens.sign(caller.claims)}`);
  }
  for (const [name, value] of Object.entries(changes.headers ?? {})) headers.set(name, value);
  return new Request(changes.url ?? request.url, {
    method: changes.method ?? request.method,
    headers,
    body: changes.body === undefined ? request.body : changes.body,
    signal: request.signal,
  });
}
