import assert from "node:assert/strict";
import { sessionKey } from "../../scripts/console/session_key.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { operatorStatuses, REFUSED_EVERYWHERE } from "../security/operator_endpoints.ts";
import { buryJob } from "./bury_job.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openConsoleFixture, picture, type Reader } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

async function accessTokenOf({ page }: Reader, key: string): Promise<string> {
  const session = await page.evaluate((name) => localStorage.getItem(name), key);
  return JSON.parse(session ?? "{}").access_token;
}

consoleTest(
  "an operator redrives another user's dead letter, which is recorded",
  async (fixture) => {
    const { sql, stack, project } = fixture.platform;
    stack.models.addAgent(scriptTurns("unlucky", complete("saved")));
    await addAgent(sql, { slug: "unlucky" });
    await using owner = await fixture.open();
    const ownerId = await owner.signUp("owner");
    const error = { code: "MODEL_UNAVAILABLE", message: "The model is down" };
    const id = await buryJob(sql, { agent: "unlucky", ownerId, error });
    await using operator = await fixture.open();
    const { page } = operator;
    await grantScopes(sql, await operator.signUp("operator"), ["swarm:operate"]);

    await operator.go("/jobs");
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByRole("tab", { name: "Dead letters" }).click();
    await page.getByText("owner@example.test").first().waitFor();
    await page.getByText("MODEL_UNAVAILABLE").waitFor();
    await picture(page, "operations_dead");
    await page.setViewportSize({ width: 360, height: 800 });
    const box = await page.getByRole("button", { name: "Redrive" }).boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 360, "the action is in view");
    await picture(page, "operations_dead_360");
    await page.getByRole("button", { name: "Redrive" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("The model is back");
    await dialog.getByRole("button", { name: "Redrive" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Retried").waitFor();
    await page.getByRole("tab", { name: "Actions" }).click();
    await page.getByText("The model is back").waitFor();
    assert.deepEqual(operator.offences, []);

    await owner.go(`/jobs/${id}`);
    await owner.page.locator("header .chip").getByText("Completed").waitFor();
    const acts = await sql`select act, owner_id, reason from private.operator_acts`;
    assert.deepEqual([...acts], [
      { act: "dead_letter.redriven", owner_id: ownerId, reason: "The model is back" },
    ]);
    const token = await accessTokenOf(operator, sessionKey(project));
    const refusals = Object.values(await operatorStatuses(project, token))
      .filter((status) => status === 403);
    assert.deepEqual(refusals, []);
  },
);

consoleTest("a user sees no operations page, and each endpoint answers 403", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("nobody");
  await reader.go("/jobs");
  await page.getByRole("link", { name: "Usage" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Operations" }).count(), 0);

  for (const view of ["queue", "stuck", "dead", "jobs", "servers", "acts"]) {
    const refused = page.waitForResponse((answer) =>
      /operator_/.test(answer.url()) && answer.status() === 403
    );
    await reader.go(`/operations?view=${view}`);
    await page.reload();
    await refused;
    await page.getByRole("alert").first().waitFor();
    assert.equal(await page.locator("main table tbody tr").count(), 0, view);
  }
  const token = await accessTokenOf(reader, sessionKey(fixture.platform.project));
  assert.deepEqual(await operatorStatuses(fixture.platform.project, token), REFUSED_EVERYWHERE);
  assert.deepEqual(reader.offences, []);
});
