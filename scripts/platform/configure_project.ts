import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { SCRIPTED_PROVIDER } from "../../shared/models/llm/scripted_model.ts";
import type { LocalModels } from "./find_local_models.ts";
import { ollamaUrl } from "./ollama_url.ts";
import { storeSecret } from "./store_secret.ts";
import type { Environment } from "../../stack/stack_environment.ts";

/** The seeded provider for the model server of this machine. */
const LOCAL_PROVIDER = "local-model";

/** The embedder that this machine serves. Its migration sets the name. */
const LOCAL_EMBEDDER = "minilm-l6-v2+hash384@1";

/** The settings written to the database at each start. */
export interface ProjectConfiguration {
  readonly dbUrl: string;
  /** The public URL of the project. */
  readonly apiUrl: string;
  /** Origin of the server that plays agents from their scripts. */
  readonly scriptedModelUrl: string;
  /** Origin of the embedding server, which needs no key. */
  readonly embeddingUrl: string;
  readonly environment: Environment;
  /** The model server that was found; null if there is none. */
  readonly localModels: LocalModels | null;
}

/**
 * Stores the addresses of this start in the database, including that of `OLLAMA_HOST`. Copies each
 * secret in `environment` that a model provider, an embedder, a tool or a project uses to Vault
 * under the same name, and also the token for GitHub. Does not change secrets that the environment
 * lacks. Then wakes a worker if there is work. Safe to repeat.
 *
 * @returns The names of the copied secrets.
 * @throws SwarmError `CONFIG_INVALID` without the platform's migration
 */
export async function configureProject(
  { dbUrl, apiUrl, scriptedModelUrl, embeddingUrl, environment, localModels }: ProjectConfiguration,
): Promise<readonly string[]> {
  const sql = createSql(dbUrl, { maxConnections: 1, applicationName: "supaswarm start" });
  try {
    await assertInstalled(sql);
    await sql`select private.configure_project_url(${apiUrl})`;
    await sql`
      insert into public.llm_providers
        (name, display_name, api, base_url, default_model, requires_api_key, is_free)
      values (${SCRIPTED_PROVIDER}, 'Scripted model', 'openai', ${`${scriptedModelUrl}/v1`}, 'demo', false, true)
      on conflict (name) do update set base_url = excluded.base_url
    `;
    await sql`
      update public.embedders set base_url = ${`${embeddingUrl}/v1`}, is_active = true
      where name = ${LOCAL_EMBEDDER}
    `;
    await configureLocalModels(sql, localModels, environment);
    const { OLLAMA_HOST: ollamaHost } = environment;
    if (ollamaHost) {
      await sql`
        update public.llm_providers set base_url = ${ollamaUrl(ollamaHost)} where name = 'ollama'`;
    }
    const names = await namedSecrets(sql);
    const found = names.flatMap((name) => {
      const value = environment[name];
      return value ? [{ name, value }] : [];
    });
    for (const secret of found) await storeSecret(sql, secret);
    // An embedder that refused the key of the last start may accept the new one.
    await sql`select private.resume_embedder(name) from public.embedders`;
    // Start pending work immediately instead of at the first tick of cron.
    await sql`select private.tick()`;
    return found.map(({ name }) => name);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function assertInstalled(sql: Sql): Promise<void> {
  const [row] =
    await sql`select to_regproc('private.configure_project_url') is not null as "isInstalled"`;
  if (row?.isInstalled) return;
  throw new SwarmError(
    "CONFIG_INVALID",
    "Cannot start: no file in supabase/migrations creates the platform",
    { hint: "Restore the file that ends with _supaswarm_0_1_0.sql, for example with git." },
  );
}

/** Without a server the provider is inactive, so that an agent's error says so. */
async function configureLocalModels(
  sql: Sql,
  found: LocalModels | null,
  { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: key }: Environment,
): Promise<void> {
  if (found === null) {
    await sql`update public.llm_providers set is_active = false where name = ${LOCAL_PROVIDER}`;
    return;
  }
  // Only the server of OPENAI_BASE_URL may get that key, and only such a server may cost something.
  const hasKey = Boolean(baseUrl && key);
  await sql`
    update public.llm_providers
    set base_url = ${found.baseUrl}, default_model = coalesce(${found.model}, default_model),
      requires_api_key = ${hasKey}, api_key_secret_name = ${hasKey ? "OPENAI_API_KEY" : null},
      is_free = ${!hasKey}, is_active = true
    where name = ${LOCAL_PROVIDER}`;
}

async function namedSecrets(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select api_key_secret_name as name from public.llm_providers where api_key_secret_name is not null
    union
    select api_key_secret_name from public.embedders where api_key_secret_name is not null
    union
    select credential_secret_name from public.tools where credential_secret_name is not null
    union
    select github_token_secret_name from public.projects where github_token_secret_name is not null
    union
    -- For repositories whose projects name none.
    select 'GITHUB_TOKEN'
  `;
  return rows.map(({ name }) => name);
}
