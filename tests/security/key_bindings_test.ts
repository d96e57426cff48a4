import assert from "node:assert/strict";
import { storeSecret } from "../../scripts/platform/store_secret.ts";
import { openToolFixture } from "../gateway/tools/tool_fixture.ts";

Deno.test("a key that a command stores is given to what waits for it", async () => {
  await using fixture = await openToolFixture();
  const { sql } = fixture;
  await sql`
    insert into public.llm_providers (name, display_name, api, default_model, api_key_secret_name)
    values ('waiting', 'Waiting', 'openai', 'm', 'WAITING_KEY')`;
  await sql`
    insert into private.awaited_secrets (used_by, name) values ('provider waiting', 'WAITING_KEY')`;
  const keyOf = async () => {
    const [row] = await sql`
      select key.secret from public.llm_providers as provider,
        private.resolve_provider_secret(provider.id, null) as key
      where provider.name = 'waiting'`;
    return row?.secret;
  };

  await storeSecret(sql, { name: "WAITING_KEY", value: "first" });
  assert.equal(await keyOf(), "first");
  await storeSecret(sql, { name: "WAITING_KEY", value: "second" });
  assert.equal(await keyOf(), "second");
});
