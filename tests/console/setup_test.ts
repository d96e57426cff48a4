import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, picture } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest(
  "an agent's prompt is edited, compared, saved and rolled back in the console",
  async (fixture) => {
    const { sql } = fixture.platform;
    await addAgent(sql, { slug: "edited" });
    await sql`update public.agents set system_prompt = 'Write.' where slug = 'edited'`;
    await using editor = await fixture.open();
    const { page } = editor;
    const editorId = await editor.signUp("editor");
    await grantScopes(sql, editorId, ["swarm:operate", "swarm:configure"]);

    await editor.go("/setup");
    await picture(page, "setup");
    await page.getByRole("link", { name: "edited", exact: true }).click();
    const prompt = page.getByLabel("System prompt");
    assert.equal(await prompt.inputValue(), "Write.");
    assert.equal(await page.getByRole("button", { name: "Review changes" }).isDisabled(), true);
    await prompt.fill("Write well.");
    await page.getByLabel("model", { exact: true }).fill("script-2");
    await picture(page, "setup_agent");
    await page.getByRole("button", { name: "Review changes" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("ins").getByText("Write well.").waitFor();
    await dialog.locator("del").getByText("Write.").waitFor();
    await picture(page, "setup_save");
    await assertAccessible(page, "the changes of an agent");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const read = async () => {
      const [row] = await sql`
        select system_prompt, model from public.agents where slug = 'edited'`;
      return [row?.system_prompt, row?.model];
    };
    assert.deepEqual(await read(), ["Write well.", "script-2"]);

    await page.getByRole("tab", { name: "Revisions" }).click();
    await page.getByRole("button", { name: "Revision 2" }).click();
    await picture(page, "setup_revisions");
    await page.getByRole("button", { name: "Roll back to revision 2" }).click();
    await page.getByRole("button", { name: "Revision 4" }).waitFor();
    assert.equal((await read())[0], "Write.");
    assert.deepEqual(editor.offences, []);
  },
);

consoleTest("an agent is switched off with one press, and back to the default", async (fixture) => {
  const { sql } = fixture.platform;
  await addAgent(sql, { slug: "switched" });
  await using editor = await fixture.open({ width: 1_440 });
  const { page } = editor;
  await grantScopes(sql, await editor.signUp("switcher"), ["swarm:operate", "swarm:configure"]);
  const enabled = page.getByRole("radiogroup", { name: "enabled", exact: true });
  const save = async (choice: string) => {
    await enabled.getByLabel(choice, { exact: true }).check();
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const [agent] = await sql`select is_active from public.agents where slug = 'switched'`;
    return agent?.is_active;
  };

  await editor.go("/setup/agent/switched");
  assert.equal(await enabled.getByLabel("Default (On)").isChecked(), true);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [360, 1_440]) {
      await page.setViewportSize({ width, height: 800 });
      await enabled.scrollIntoViewIfNeeded();
      await assertFits(page, `the switch at ${width} px`);
      await picture(page, `switch_${width}_${scheme}`);
    }
  }
  await assertAccessible(page, "a switch");
  assert.equal(await save("Off"), false);
  assert.equal(await save("Default (On)"), true);
  assert.deepEqual(editor.offences, []);
});

consoleTest("what somebody typed outlives a change by somebody else", async (fixture) => {
  const { sql } = fixture.platform;
  await addAgent(sql, { slug: "contested" });
  await using editor = await fixture.open({ width: 360, scheme: "dark" });
  const { page } = editor;
  await grantScopes(sql, await editor.signUp("typist"), ["swarm:operate", "swarm:configure"]);
  await editor.go("/setup/agent/contested");
  await page.getByLabel("System prompt").fill("Mine.");
  await assertFits(page, "the form of an agent");
  await picture(page, "setup_agent_360");
  await sql`update public.agents set system_prompt = 'Theirs.' where slug = 'contested'`;
  await page.getByRole("button", { name: "Review changes" }).click();
  await page.getByRole("dialog").getByText("it was changed in the meantime").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  await page.getByText("Somebody else has changed it").waitFor();

  await page.getByRole("link", { name: "All agents" }).click();
  await page.getByRole("link", { name: "contested", exact: true }).click();
  await page.getByText("Somebody else has changed it").waitFor();
  assert.equal(await page.getByLabel("System prompt").inputValue(), "Mine.");
  await page.getByRole("button", { name: "Compare with the new state" }).click();
  await page.getByRole("button", { name: "Review changes" }).click();
  await page.getByRole("dialog").locator("del").getByText("Theirs.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const [row] = await sql`select system_prompt from public.agents where slug = 'contested'`;
  assert.equal(row?.system_prompt, "Mine.");
  assert.deepEqual(editor.offences, []);
});

consoleTest("each kind of definition is created and removed by a form", async (fixture) => {
  const { sql } = fixture.platform;
  await addAgent(sql, { slug: "timed" });
  await using editor = await fixture.open();
  const { page } = editor;
  await grantScopes(sql, await editor.signUp("creator"), ["swarm:operate", "swarm:configure"]);
  const save = async (name: string) => {
    await page.getByRole("button", { name: "Review changes" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  };
  const create = async (kind: string, name: string) => {
    await editor.go(`/setup/new/${kind}`);
    await page.getByLabel("Name *", { exact: true }).fill(name);
  };

  await create("webhook", "deliveries");
  await page.getByRole("button", { name: "Review changes" }).click();
  await page.getByText("url").first().waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0, "an incomplete form is not sent");
  await page.getByLabel("url *").fill("https://example.test/hook");
  await page.getByRole("button", { name: "Add events" }).click();
  await page.getByRole("button", { name: "Add to events" }).click();
  await page.getByLabel("events 1 *").selectOption({ label: "task.completed" });
  await picture(page, "setup_webhook");
  await save("deliveries");

  await create("skill", "saving");
  await page.getByLabel("Instructions").fill("Save often.");
  await page.getByLabel("name *", { exact: true }).fill("saving");
  await page.getByLabel("description *").fill("How to save.");
  await save("saving");

  await create("schedule", "nightly");
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByLabel("Settings as JSON").fill(
    JSON.stringify({ agent: "timed", input: "Tidy up", cron: "0 3 * * *" }),
  );
  await save("nightly");

  await create("alert", "spending");
  await page.getByLabel("measure *").selectOption({ label: "cost_usd" });
  await page.getByLabel("above *").fill("5");
  await picture(page, "setup_alert");
  await save("spending");
  await editor.go("/setup?kind=alert");
  await page.getByText("cost_usd above 5").waitFor();

  await editor.go("/setup/schedule/nightly");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No schedules yet").waitFor();
  const kept = await sql`
    select kind, slug from private.definitions() where slug in ('deliveries', 'saving', 'nightly', 'spending')
    order by kind`;
  assert.deepEqual([...kept], [
    { kind: "alert", slug: "spending" },
    { kind: "skill", slug: "saving" },
    { kind: "webhook", slug: "deliveries" },
  ]);
  assert.deepEqual(editor.offences, []);
});

consoleTest("an operator without swarm:configure reads definitions only", async (fixture) => {
  const { sql } = fixture.platform;
  await addAgent(sql, { slug: "looked-at" });
  await using operator = await fixture.open();
  const { page } = operator;
  await grantScopes(sql, await operator.signUp("looker"), ["swarm:operate"]);
  await operator.go("/setup/agent/looked-at");
  await page.getByText("swarm:configure").waitFor();
  assert.equal(await page.getByRole("button", { name: "Review changes" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Remove", exact: true }).count(), 0);
  assert.deepEqual(operator.offences, []);
});
