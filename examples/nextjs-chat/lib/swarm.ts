import { createClient } from "@supabase/supabase-js";
import { createSwarm } from "supaswarm/client";

const supabase = createClient(
  process.env.NEXT_PUBLIC_SUPABASE_URL ?? "http://127.0.0.1:54321",
  process.env.NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY ?? "missing",
);
export const swarm = createSwarm(supabase);

/** A new user for this browser. Put your own sign-in here. */
export async function signIn(): Promise<void> {
  const { data } = await supabase.auth.getSession();
  const email = `${crypto.randomUUID()}@example.com`;
  if (!data.session) await supabase.auth.signUp({ email, password: crypto.randomUUID() });
}
