import assert from "node:assert/strict";
import type { Page } from "../deps.ts";
import { addAgent } from "../e2e/operator.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openConsoleFixture, type Reader } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

/** Waits until an element has the focus, and fails with what has it instead. */
async function untilFocused(page: Page, selector: string): Promise<void> {
  try {
    await page.locator(`:focus:is(${selector})`).waitFor({ timeout: 60_000 });
  } catch {
    const found = await page.evaluate("document.activeElement?.outerHTML.slice(0, 200)");
    assert.fail(`${selector} does not have the focus, but ${found}`);
  }
}

/** A signed-in user of the agent, with delayed jobs. */
async function openReader(
  { platform: { sql }, open }: Awaited<ReturnType<typeof openConsoleFixture>>,
  { name, jobCount }: { readonly name: string; readonly jobCount: number },
): Promise<Reader> {
  await addAgent(sql, { slug: name });
  const reader = await open();
  const id = await reader.signUp(name);
  await sql`
    select private.create_task(${name}, to_jsonb(n::text), ${id}, p_run_after => now() + interval '1 day')
    from generate_series(1, ${jobCount}::int) as n`;
  return reader;
}

async function press(page: Page, role: "button" | "link", name: string | RegExp): Promise<void> {
  await page.getByRole(role, { name, exact: true }).first().focus();
  await page.keyboard.press("Enter");
}

consoleTest(
  "the title of a page gets the focus, also if its job is still read",
  async (fixture) => {
    await using reader = await openReader(fixture, { name: "focus-title", jobCount: 1 });
    const { page } = reader;
    await reader.go("/jobs");

    await press(page, "link", /^focus-title/);
    await untilFocused(page, "h1");
    await press(page, "link", "Reviews");
    await untilFocused(page, "h1");
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest(
  "a button that is disabled during its request has the focus afterwards",
  async (fixture) => {
    await using reader = await openReader(fixture, { name: "focus-older", jobCount: 120 });
    const { page } = reader;
    await reader.go("/jobs");

    await press(page, "button", "Show older jobs");
    await page.locator("tbody").nth(1).waitFor({ state: "attached" });
    await untilFocused(page, ".older button:enabled");
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest("the focus stays beside a button that its own action removes", async (fixture) => {
  await using reader = await openReader(fixture, { name: "focus-removed", jobCount: 2 });
  const { page } = reader;
  await reader.go("/jobs?until=2100-01-01T00:00");
  await page.locator("[data-job]").first().waitFor();

  await press(page, "button", "Show the newest");
  await untilFocused(page, "label:has(input[type=datetime-local])");

  await page.getByRole("checkbox", { name: /^Select job/ }).first().focus();
  await page.keyboard.press("Space");
  await press(page, "button", "Clear");
  await page.getByRole("region", { name: "Selection" }).waitFor({ state: "detached" });
  await untilFocused(page, "#app *");

  await press(page, "link", /^focus-removed/);
  await press(page, "button", "Cancel");
  await page.getByRole("button", { name: "Retry", exact: true }).waitFor();
  // Not a button: another press of Enter would retry the job.
  await untilFocused(page, ".row:has(h1), .row:has(h1) :not(button)");
  assert.deepEqual(reader.offences, []);
});

consoleTest("the palette finds an agent by its slug", async (fixture) => {
  const { sql } = fixture.platform;
  await using reader = await openReader(fixture, { name: "focus-palette", jobCount: 0 });
  await sql`update public.agents set name = 'Night editor' where slug = 'focus-palette'`;
  const { page } = reader;
  await reader.go("/jobs");
  await page.getByRole("heading", { name: "No jobs yet" }).waitFor();

  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("focus-palette");
  await page.getByRole("option", { name: "New job for Night editor" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "New job", level: 1 }).waitFor();
  await untilFocused(page, "h1");
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "focus-palette");
});
