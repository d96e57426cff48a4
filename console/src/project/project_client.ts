import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { createSwarm, type PlatformSchema, type Swarm } from "../../../client/mod.ts";
import { watchedFetch } from "./connection.ts";
import type { ProjectConfig } from "./project_config.ts";

/** An installation in another schema has the same tables. */
type Database = { public: PlatformSchema };

export type ProjectClient = SupabaseClient<Database>;

let opened: { readonly client: ProjectClient; readonly config: ProjectConfig } | undefined;

/** Opens the project once, before the page is shown. */
export function openProject(config: ProjectConfig): ProjectClient {
  const client = createClient<Database>(config.apiUrl, config.publishableKey, {
    db: { schema: (config.schema ?? "public") as "public" },
    // The code of a magic link arrives in the query; the fragment belongs to the router.
    auth: { flowType: "pkce", detectSessionInUrl: true, persistSession: true },
    global: { fetch: watchedFetch },
  });
  opened = { client, config };
  return client;
}

export function projectClient(): ProjectClient {
  return open().client;
}

/** The jobs, reviews and tools of the user. */
export function projectSwarm(): Swarm {
  const { client, config } = open();
  return createSwarm(client, { functions: config.functions ?? {} });
}

/** The contents of the open project's `config.json`. */
export function projectConfig(): ProjectConfig {
  return open().config;
}

function open() {
  if (opened === undefined) throw new Error("The project has not been opened");
  return opened;
}
