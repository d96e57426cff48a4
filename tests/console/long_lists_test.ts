import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openConsoleFixture } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("a list of settings has more rows than one answer of the project", async (fixture) => {
  const { sql } = fixture.platform;
  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute)
    select 'limited-' || lpad(number::text, 4, '0'), 5 from generate_series(1, 1100) as number`;
  await using holder = await fixture.open();
  const { page } = holder;
  const id = await holder.signUp("list-holder");
  await grantScopes(sql, id, ["swarm:operate", "swarm:configure"]);

  await holder.go("/setup?kind=limit");
  await page.getByRole("link", { name: "limited-0001" }).waitFor();
  assert.equal(await page.getByRole("link", { name: /^limited-/ }).count(), 1_100);
  await holder.go("/setup/limit/limited-1100");
  await page.getByRole("heading", { name: "limited-1100", level: 1 }).waitFor();
  assert.deepEqual(holder.offences, []);
});
