import assert from "node:assert/strict";
import { join } from "node:path";
import { findDatabaseUrl } from "./find_database.ts";

Deno.test("findDatabaseUrl() finds the database of a stack only while it runs", async () => {
  const folder = await Deno.makeTempDir();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const database = "postgresql://postgres@127.0.0.1:1/postgres";
  await Deno.writeTextFile(
    join(folder, "project.env"),
    `SUPABASE_URL=http://127.0.0.1:${listener.addr.port}\nSUPABASE_DB_URL=${database}\n`,
  );
  const environment = { SUPASWARM_DATA_DIR: folder };

  assert.equal(await findDatabaseUrl(undefined, environment), database);
  listener.close();
  await assert.rejects(findDatabaseUrl(undefined, environment), {
    message: /no stack is running in this folder/,
  });

  await Deno.remove(folder, { recursive: true });
});
