import { storeSecret } from "../../../scripts/platform/store_secret.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";

/** Points the seeded provider `openrouter` at a server of the test, with a key of the organization. */
export async function useOpenRouter(sql: Sql, baseUrl: string): Promise<void> {
  await sql`
    update public.llm_providers set base_url = ${baseUrl}, default_model = 'streaming'
    where name = 'openrouter'`;
  await storeSecret(sql, { name: "OPENROUTER_API_KEY", value: "sk-or-test-key" });
}
