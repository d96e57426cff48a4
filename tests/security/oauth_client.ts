import { ensureKeys } from "../../stack/keys/keys.ts";
import type { Project } from "../../scripts/demo/user_client.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";

/** A program to which the project's Auth has issued a token of a user. */
export interface OAuthClient {
  readonly headers: Readonly<Record<string, string>>;
  /** Its connection to the project; close its sockets with `realtime.disconnect()`. */
  readonly client: SupabaseClient;
}

/**
 * Signs a token of the user for an OAuth client.
 *
 * @param dataDir The folder of the platform, which contains its signing keys.
 */
export async function oauthClientOf(
  project: Project,
  dataDir: string,
  accessToken: string,
  clientId: string,
): Promise<OAuthClient> {
  const keys = await ensureKeys(dataDir);
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
