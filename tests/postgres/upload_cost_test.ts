import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { startMigratedServer } from "./native_server.ts";
import { pagesOf } from "./pages_of.ts";
import { printFigures } from "./race_fixture.ts";

const OWNER_ID = "5c4edeed-0000-4000-8000-0000000000b1";
const OTHERS = 5_000;

Deno.test("The cost of an upload does not depend on the number of others' files and accounts", async () => {
  await using server = await startMigratedServer();
  // The owner of the tables of Auth and Storage.
  const { admin } = server;
  await admin`insert into auth.users (id, email) values (${OWNER_ID}, 'owner@example.test')`;
  const few = await pagesOfUploads(admin);

  await admin.begin(async (tx) => {
    // Without triggers, each of which would count the files so far.
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into auth.users (id, email)
      select md5(n::text)::uuid, n || '@example.test' from generate_series(1, ${OTHERS}::int) as n`;
    await tx`
      insert into storage.objects (bucket_id, name, metadata)
      select 'supaswarm-data', md5(owner::text)::uuid || '/' || n || '.txt', '{"size": 1}'
      from generate_series(1, ${OTHERS}::int) as owner cross join generate_series(1, 4) as n`;
  });
  await admin`analyze auth.users, storage.objects`;
  const many = await pagesOfUploads(admin);

  printFigures({ "pages of an upload": few, [`with ${OTHERS} other accounts`]: many });
  assert.ok(many <= 2 * few, `an upload reads ${many} pages against ${few}`);
});

/** The median of ten uploads, so that the plans of the trigger no longer depend on its values. */
async function pagesOfUploads(sql: Sql): Promise<number> {
  const pages: number[] = [];
  for (let n = 0; n < 10; n++) {
    pages.push(
      await pagesOf(
        sql,
        `insert into storage.objects (bucket_id, name, metadata)
         values ('supaswarm-data', '${OWNER_ID}/${crypto.randomUUID()}.txt', '{"size": 1}')
         returning id`,
      ),
    );
  }
  return pages.sort((a, b) => a - b)[5] ?? 0;
}
