import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openConsoleFixture, picture } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest(
  "the row of a job opens it, and Escape closes its step from anywhere",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    stack.models.addAgent(scriptTurns("opened", complete('{"rows":[{"id":1610521604143693812}]}')));
    await addAgent(sql, { slug: "opened" });
    await using reader = await fixture.open({ width: 1440 });
    const { page } = reader;
    await reader.signUp("opener");
    const id = await startJob(reader, "opened", "Select this text");
    await untilChip(reader, "Completed");

    // The trace keeps the focus when a step is opened with the keyboard or the pointer.
    const panel = page.getByRole("complementary", { name: "opened" });
    for (const open of ["Enter", "click"]) {
      await page.getByRole("tree").focus();
      await page.keyboard.press("Home");
      if (open === "Enter") await page.keyboard.press("Enter");
      else await page.getByRole("treeitem").first().dblclick();
      await panel.getByRole("heading", { name: "Output" }).waitFor();
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "detached" });
    }
    await page.getByRole("treeitem").first().click();
    await page.keyboard.press("Enter");
    await page.getByLabel("Search trace").fill("open");
    await page.keyboard.press("Escape");
    assert.equal(
      await page.getByLabel("Search trace").inputValue(),
      "",
      "the search is cleared first",
    );
    await panel.waitFor();
    // A whole number that a double would round, in JSON text.
    await panel.locator("pre").getByText('"id": 1610521604143693812').waitFor();
    await page.getByRole("tree").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await panel.waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    const row = page.locator("[data-job]");
    const duration = row.locator(".wide").last();
    const isOpen = () => page.url().includes(`/jobs/${id}`);
    await reader.go("/jobs");
    await row.hover();
    await picture(page, "job_row_hovered");
    // Selecting text, the checkbox and its cell open nothing.
    const box = await row.getByText("Select this text").boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 1, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    assert.match(await page.evaluate<string>("getSelection().toString()"), /^Select/);
    await row.locator(".choose").click({ position: { x: 2, y: 2 } });
    await row.getByRole("checkbox").click();
    assert.equal(isOpen(), false);
    // Each ends the selection of text first, as it does on other parts of a page.
    await page.evaluate("getSelection().removeAllRanges()");
    for (const press of [{ modifiers: ["Control" as const] }, { button: "middle" as const }]) {
      const [opened] = await Promise.all([
        page.context().waitForEvent("page"),
        duration.click(press),
      ]);
      await opened.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
      await opened.close();
      assert.equal(isOpen(), false, "the list stays");
    }
    await duration.click();
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
    await page.goBack();
    await row.getByRole("checkbox").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
    // The tabs that were opened on purpose are the only ones.
    assert.equal(reader.offences.filter((one) => !one.startsWith("window:")).length, 0);
    assert.equal(reader.offences.length, 2, reader.offences.join("\n"));
  },
);
