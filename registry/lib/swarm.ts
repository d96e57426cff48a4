import { createClient } from "@supabase/supabase-js";
import { createSwarm } from "supaswarm/client";

/** The client of the signed-in user. */
export const supabase = createClient(
  process.env.NEXT_PUBLIC_SUPABASE_URL ?? "",
  process.env.NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY ?? "",
);

/** The agents of the project, for that user. */
export const swarm = createSwarm(supabase);
