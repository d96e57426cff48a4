import type { Project } from "../demo/user_client.ts";

/** Returns the key of a project's session in `localStorage`, as supabase-js names it. */
export function sessionKey({ apiUrl }: Project): string {
  return `sb-${new URL(apiUrl).hostname.split(".")[0]}-auth-token`;
}
