import type { Session } from "@supabase/supabase-js";
import type { QueryClient } from "@tanstack/vue-query";
import { computed, shallowRef } from "vue";
import { projectClient } from "./project_client.ts";

/** `undefined` until the stored session has been read. */
const session = shallowRef<Session | null | undefined>(undefined);

export const isSignedIn = computed(() => Boolean(session.value));
export const isSessionRead = computed(() => session.value !== undefined);
export const userId = computed(() => session.value?.user.id ?? "");
export const userEmail = computed(() => session.value?.user.email ?? "");

/** Follows the signed-in user; the data of one user is removed before another one signs in. */
export async function watchSession(queries: QueryClient): Promise<void> {
  const { auth, realtime } = projectClient();
  auth.onAuthStateChange((_event, next) => {
    const before = session.value?.user.id;
    if (before !== undefined && before !== next?.user.id) queries.clear();
    session.value = next;
    if (next !== null) void realtime.setAuth(next.access_token);
  });
  const { data } = await auth.getSession();
  session.value = data.session;
}

/** Ends the session on this device. */
export async function signOut(): Promise<void> {
  await projectClient().auth.signOut({ scope: "local" });
}
