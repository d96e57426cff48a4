import type { Project } from "../demo/user_client.ts";

/** Where supabase-js keeps a project's session in `localStorage`. */
export function sessionKey({ apiUrl }: Project): string {
  return `sb-${new URL(apiUrl).hostname.split(".")[0]}-auth-token`;
}
