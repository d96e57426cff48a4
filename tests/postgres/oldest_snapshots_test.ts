import assert from "node:assert/strict";
import { asRole, startMigratedServer } from "./native_server.ts";

Deno.test("oldest_snapshots shows only the service which session holds one", async () => {
  await using server = await startMigratedServer();
  const read = (role: string) =>
    asRole(server.sql, role, (tx) => tx`select * from public.oldest_snapshots`);

  const seen = await server.admin.begin("isolation level repeatable read", async (tx) => {
    const [session] = await tx`
      select pg_backend_pid()::text as pid, (select count(*) from public.tasks) as tasks`;
    const rows = await read("service_role");
    return rows.filter(({ holder, name }) => holder === "session" && name === session?.pid);
  });
  const afterwards = await read("service_role");

  assert.equal(seen.length, 1);
  assert.equal(seen[0]?.state, "idle in transaction");
  assert.ok(Number(seen[0]?.age_seconds) >= 0);
  assert.ok(!afterwards.some(({ name }) => name === seen[0]?.name), "the transaction has ended");
  await assert.rejects(read("authenticated"), { code: "42501" });
});
