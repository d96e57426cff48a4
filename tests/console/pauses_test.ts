import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, openConsoleFixture, picture, pictures } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest(
  "an operator pauses all new work, everybody reads why at once, and waiting jobs go on",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    stack.models.addAgent(scriptTurns("waiter", complete("served")));
    await addAgent(sql, { slug: "waiter" });
    await using user = await fixture.open();
    const userId = await user.signUp("guest");
    await using operator = await fixture.open();
    const { page } = operator;
    await grantScopes(sql, await operator.signUp("stopper"), ["swarm:operate"]);
    await user.go("/jobs");
    await user.page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();

    await operator.go("/operations");
    await page.getByRole("button", { name: "Pause all new work" }).click();
    const dialog = page.getByRole("dialog");
    await assertAccessible(page, "the dialog that pauses");
    await picture(page, "pause_dialog");
    await dialog.getByLabel("Reason").fill("The provider sends garbage");
    await dialog.getByRole("button", { name: "Pause", exact: true }).click();
    await page.locator("[data-pause]").getByText("The provider sends garbage").waitFor();
    await page.getByText(/has been paused by stopper@example\.test/).waitFor();

    // Without a reload.
    const banner = user.page.locator("[data-pause]");
    await banner.getByText("The provider sends garbage").waitFor();
    assert.equal(await banner.getByText("stopper@example.test").count(), 0);
    assert.equal(await banner.getByRole("button").count(), 0, "only operators resume");
    await assertAccessible(user.page, "the banner");
    await pictures(user.page, "pause_banner");

    const [job] = await sql`
      select task_id from private.create_task('waiter', '"Serve"', ${userId}::uuid)`;
    await user.go(`/jobs/${job?.task_id}`);
    await user.page.locator("[data-waits]").getByText("The provider sends garbage").waitFor();
    await assertAccessible(user.page, "a job that waits");
    await picture(user.page, "job_paused");

    await page.locator("[data-pause]").getByRole("button", { name: "Resume" }).click();
    await banner.waitFor({ state: "detached" });
    await user.page.locator("header .chip").getByText("Completed").waitFor();
    await user.page.locator("[data-waits]").waitFor({ state: "detached" });
    assert.deepEqual([user.offences, operator.offences], [[], []]);
  },
);

consoleTest("an operator pauses and resumes an agent on its page", async (fixture) => {
  const { sql } = fixture.platform;
  await addAgent(sql, { slug: "sleeper" });
  await using operator = await fixture.open();
  const { page } = operator;
  await grantScopes(sql, await operator.signUp("pager"), ["swarm:operate"]);

  await operator.go("/setup/agent/sleeper");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("It loops");
  await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText(/The agent sleeper has been paused by pager@example\.test/).waitFor();
  await assertAccessible(page, "a paused agent");
  await picture(page, "agent_paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("The agent sleeper has been paused").waitFor({ state: "detached" });

  await operator.go("/operations?view=acts");
  await page.getByText("paused the").first().waitFor();
  await page.getByRole("cell", { name: "It loops" }).first().waitFor();
  assert.deepEqual(operator.offences, []);
});
