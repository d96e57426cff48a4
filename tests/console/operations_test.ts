import assert from "node:assert/strict";
import { sessionKey } from "../../scripts/console/session_key.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { operatorStatuses, REFUSED_EVERYWHERE } from "../security/operator_endpoints.ts";
import { buryJob } from "./bury_job.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, openConsoleFixture, picture, type Reader } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

async function accessTokenOf({ page }: Reader, key: string): Promise<string> {
  const session = await page.evaluate((name) => localStorage.getItem(name), key);
  return JSON.parse(session ?? "{}").access_token;
}

const DOWN = { code: "MODEL_UNAVAILABLE", message: "The model is down" };

consoleTest(
  "an operator finds a failed job by its error, opens it with a reason, and retries it",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    stack.models.addAgent(scriptTurns("unlucky", complete("saved")));
    await addAgent(sql, { slug: "unlucky" });
    await using owner = await fixture.open();
    const ownerId = await owner.signUp("owner");
    const id = await buryJob(sql, { agent: "unlucky", ownerId, error: DOWN });
    const other = { code: "TOOL_FAILED", message: "Something else" };
    await buryJob(sql, { agent: "unlucky", ownerId, error: other });
    await using operator = await fixture.open();
    const { page } = operator;
    await grantScopes(sql, await operator.signUp("operator"), ["swarm:operate"]);

    await operator.go("/jobs");
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByRole("tab", { name: "Failures" }).click();
    await page.getByRole("link", { name: "MODEL_UNAVAILABLE" }).waitFor();
    await assertAccessible(page, "the failures");
    await picture(page, "operations_failures");
    await page.getByRole("link", { name: "MODEL_UNAVAILABLE" }).click();
    await page.getByText("owner@example.test").waitFor();
    assert.equal(await page.locator("tr[data-job]").count(), 1, "the list shows only that error");
    assert.match(page.url(), /errorCode=MODEL_UNAVAILABLE/, "the address can be shared");
    await picture(page, "operations_jobs");
    await page.getByRole("link", { name: "unlucky" }).click();

    await page.getByRole("button", { name: "Open this job" }).waitFor();
    assert.equal(await page.getByText(DOWN.message).count(), 0, "nothing is shown before");
    await assertAccessible(page, "the form that opens a job");
    await picture(page, "foreign_job_closed");
    await page.getByLabel("Reason").fill("Its owner asked");
    await page.getByRole("button", { name: "Open this job" }).click();
    await page.getByText("This job belongs to owner@example.test").waitFor();
    await page.getByText(DOWN.message).first().waitFor();
    for (const name of ["Run again", "Send"]) {
      assert.equal(
        await page.getByText(name, { exact: true }).count(),
        0,
        `${name} is the owner's`,
      );
    }
    await page.getByRole("tab", { name: "Conversation" }).click();
    await page.getByRole("heading", { name: "Input" }).waitFor();
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByText("task.failed").waitFor();
    await page.reload();
    await page.getByText("This job belongs to owner@example.test").waitFor();
    await assertAccessible(page, "an opened job");
    await picture(page, "foreign_job_open");

    await page.getByRole("button", { name: "Retry", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("The model is back");
    await dialog.getByRole("button", { name: "Retry the task" }).click();
    await page.locator("header .chip").getByText("Completed").waitFor();
    await page.getByRole("tab", { name: "Trace" }).click();
    await page.getByRole("treeitem").getByText("complete_task").click();
    await page.getByRole("heading", { name: "Arguments" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Fork from here" }).count(), 0);
    await picture(page, "foreign_job_step");
    assert.deepEqual(operator.offences, []);

    await owner.go(`/jobs/${id}`);
    await owner.page.locator("header .chip").getByText("Completed").waitFor();
    await owner.page.getByText("Operators looked at this job or acted on it (2)").click();
    await owner.page.getByText("operator@example.test opened the job").waitFor();
    await owner.page.getByText("Its owner asked").waitFor();
    await owner.page.getByText("The model is back").waitFor();
    await assertAccessible(owner.page, "the acts of operators");
    await picture(owner.page, "job_operator_acts");
    assert.deepEqual(owner.offences, []);
  },
);

consoleTest(
  "an operator redrives dead letters and whole groups of failures, which is recorded",
  async (fixture) => {
    const { sql, stack, project } = fixture.platform;
    stack.models.addAgent(scriptTurns("dead-unlucky", complete("saved")));
    await addAgent(sql, { slug: "dead-unlucky" });
    await using owner = await fixture.open();
    const ownerId = await owner.signUp("dead-owner");
    const bury = () => buryJob(sql, { agent: "dead-unlucky", ownerId, error: DOWN });
    const id = await bury();
    await using operator = await fixture.open();
    const { page } = operator;
    await grantScopes(sql, await operator.signUp("dead-operator"), ["swarm:operate"]);

    await operator.go("/operations?view=dead");
    const letter = page.getByRole("row").filter({ hasText: "dead-owner@example.test" });
    await letter.getByText("MODEL_UNAVAILABLE").waitFor();
    await letter.getByRole("link", { name: "dead-unlucky" }).waitFor();
    await picture(page, "operations_dead");
    await page.setViewportSize({ width: 360, height: 800 });
    const box = await letter.getByRole("button", { name: "Redrive" }).boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 360, "the action is in view");
    await picture(page, "operations_dead_360");
    await letter.getByRole("button", { name: "Redrive" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("The model is back");
    await dialog.getByRole("button", { name: "Redrive" }).click();
    await dialog.waitFor({ state: "detached" });
    await letter.getByText("Retried").waitFor();
    await page.getByRole("tab", { name: "Actions" }).click();
    await page.getByText("The model is back").first().waitFor();

    const group = [await bury(), await bury()];
    await page.getByRole("tab", { name: "Failures" }).click();
    const row = page.getByRole("row").filter({ hasText: "dead-unlucky" });
    await row.getByRole("button", { name: "Redrive 2" }).click();
    await dialog.getByLabel("Reason").fill("All at once");
    await dialog.getByRole("button", { name: "Redrive the jobs" }).click();
    await page.getByText("Redrove 2 jobs").waitFor();
    assert.deepEqual(operator.offences, []);

    for (const jobId of [id, ...group]) {
      await owner.go(`/jobs/${jobId}`);
      await owner.page.locator("header .chip").getByText("Completed").waitFor();
    }
    const acts = await sql`
      select act, reason from private.operator_acts where owner_id = ${ownerId} order by id`;
    assert.deepEqual([...acts], [
      { act: "dead_letter.redriven", reason: "The model is back" },
      { act: "task.retried", reason: "All at once" },
      { act: "task.retried", reason: "All at once" },
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

  for (const view of ["queue", "stuck", "failures", "dead", "jobs", "servers", "checks", "acts"]) {
    await reader.go(`/operations?view=${view}`);
    await page.reload();
    await page.getByRole("heading", { name: "Only operators see this page" }).waitFor();
    assert.equal(await page.locator("main table tbody tr").count(), 0, view);
  }
  const token = await accessTokenOf(reader, sessionKey(fixture.platform.project));
  assert.deepEqual(await operatorStatuses(fixture.platform.project, token), REFUSED_EVERYWHERE);
  assert.deepEqual(reader.offences, []);
});
