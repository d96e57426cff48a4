import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";
import type { Platform } from "../e2e/platform.ts";

/** A program to which the project's Auth has issued a token of a user. */
export interface OAuthClient {
  readonly headers: Readonly<Record<string, string>>;
  /** Its connection to the project; close its sockets with `realtime.disconnect()`. */
  readonly client: SupabaseClient;
}

/** Signs a token of the user for an OAuth client. */
export async function oauthClientOf(
  { project, keys }: Pick<Platform, "project" | "keys">,
  accessToken: string,
  clientId: string,
): Promise<OAuthClient> {
  const claims = await keys.verifyUserToken(accessToken);
  if (claims === null) throw new Error("The token was not issued by this platform");
  const token = await keys.signUserToken({ ...claims, client_id: clientId });
  const { createClient } = await loadSupabaseJs();
  return {
    headers: { apikey: project.publishableKey, authorization: `Bearer ${token}` },
    client: createClient(project.apiUrl, project.publishableKey, {
      accessToken: () => Promise.resolve(token),
    }),
  };
}
