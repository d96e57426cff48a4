import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, picture } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("the rows of a trace say what happened, and a chart is a picture", async (fixture) => {
  const { sql, stack } = fixture.platform;
  const [tool] = await sql<{ id: string }[]>`select id from public.tools where slug = 'supabase'`;
  assert.ok(tool);
  await addAgent(sql, { slug: "charter", tools: [{ id: tool.id }] });
  const data = JSON.stringify([{ day: "Monday", jobs: 3 }, { day: "Tuesday", jobs: 5 }]);
  stack.models.addAgent(
    scriptTurns(
      "charter",
      {
        text: "I draw the jobs by day.",
        ...call("supabase__format_results", { data, format: "chart" }),
      },
      complete("Tuesday has the most"),
    ),
  );
  await using reader = await fixture.open({ width: 1280 });
  const { page } = reader;
  await grantScopes(sql, await reader.signUp("charting"), ["sql:read"]);
  await startJob(reader, "charter", "Chart my jobs");
  await untilChip(reader, "Completed");

  const rows = page.getByRole("treeitem");
  await rows.getByText("I draw the jobs by day.").waitFor();
  await rows.getByText("Tuesday has the most").waitFor();
  await page.locator("header").getByText("charter").nth(1).waitFor();
  await rows.getByText("format_results").click();
  const chart = page.getByRole("complementary").getByRole("img", { name: "Image 1 of the result" });
  await chart.waitFor();
  assert.ok(
    await chart.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth) >
      0,
  );
  assert.equal(await page.getByRole("complementary").locator("svg text").count(), 0);
  await assertAccessible(page, "the trace with a chart");
  await picture(page, "trace_rows");
  await page.getByRole("tree").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await rows.getByText("4 steps").waitFor();
  assert.equal(await rows.count(), 1);
  await page.keyboard.press("ArrowRight");
  await reader.go("/usage");
  await page.getByRole("img", { name: /^.* by day: 1 bars/ }).waitFor();
  await picture(page, "usage_one_day");
  await page.goBack();
  await rows.getByText("Tuesday has the most").waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await assertFits(page, "the trace at 360 px");
  await picture(page, "trace_rows_360");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "trace_rows_360_dark");
  assert.deepEqual(reader.offences, []);
});

consoleTest("an answer given elsewhere keeps what was typed and the focus", async (fixture) => {
  const { sql, stack, project } = fixture.platform;
  const context = {
    words: 1200,
    author: { name: "Ada", languages: ["English", "العربية"] },
    changes: [{ line: 3, text: "now" }, { line: 9, text: "later" }],
  };
  stack.models.addAgent(
    scriptTurns(
      "elsewhere",
      call("request_human_review", { question: "Publish?", options: ["Now", "Later"], context }),
      complete("done"),
    ),
  );
  await addAgent(sql, { slug: "elsewhere" });
  await using reader = await fixture.open({ width: 360 });
  const { page } = reader;
  await reader.signUp("twice");
  const id = await startJob(reader, "elsewhere", "Ask me");
  await untilChip(reader, "Needs review");
  await page.getByRole("link", { name: "Answer the review" }).click();
  await page.getByRole("columnheader", { name: "line" }).waitFor();
  await assertFits(page, "the context of a review");
  await assertAccessible(page, "the context of a review");
  await picture(page, "review_context_360");
  await page.getByLabel("Comment").fill("Not before noon");

  const response = await fetch(`${project.apiUrl}/rest/v1/rpc/respond_to_review`, {
    method: "POST",
    headers: { apikey: stack.secretKey, "content-type": "application/json" },
    body: JSON.stringify({ p_task_id: id, p_approved: true, p_response: { choice: "Now" } }),
  });
  assert.equal(response.status, 200, await response.text());
  await page.getByText("A secret key of the project approved it with the choice").waitFor();
  const comment = page.getByLabel("Comment");
  assert.equal(await comment.inputValue(), "Not before noon");
  assert.equal(await comment.evaluate((field) => field.matches(":focus")), true);
  await assertAccessible(page, "a review that was answered elsewhere");
  await picture(page, "review_elsewhere_360");
  await page.setViewportSize({ width: 1280, height: 800 });
  await picture(page, "review_elsewhere");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("heading", { name: "No open reviews" }).waitFor();
  assert.deepEqual(reader.offences, []);
});

consoleTest("looking at the SQL page calls no tool, and a read is one call", async (fixture) => {
  const { sql } = fixture.platform;
  await sql.unsafe(`
    create table public.boats (id int primary key, kind text not null, created_at timestamptz);
    alter table public.boats enable row level security;
    create policy "everybody" on public.boats for select to authenticated using (true);
    grant select on public.boats to authenticated;
    insert into public.boats values (1, 'sail', now()), (2, 'sail', now()), (3, 'row', now())`);
  await using reader = await fixture.open();
  const { page } = reader;
  const userId = await reader.signUp("skipper");
  await grantScopes(sql, userId, ["sql:read"]);
  const calls = async () => {
    const rows = await sql<{ tool_name: string }[]>`
      select tool_name from public.mcp_executions where user_id = ${userId}`;
    return rows.map(({ tool_name: name }) => name);
  };

  await reader.go("/sql");
  await page.getByLabel("Search tables and columns").fill("boat");
  await page.locator("summary").getByText("boats", { exact: true }).click();
  await page.getByRole("term").getByText("created_at").waitFor();
  const editor = page.locator("[data-editor] .cm-content");
  await editor.click();
  await page.keyboard.type("select ki from boats");
  const list = page.locator("[data-editor] .cm-tooltip-autocomplete");
  for (let back = 0; back < " from boats".length; back++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.type("n");
  await list.locator("li").first().getByText("kind").waitFor();
  await picture(page, "sql_completion");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "sql_completion_dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await page.keyboard.type("d");
  await list.waitFor();
  await page.getByRole("heading", { name: "SQL", level: 1 }).click();
  await list.waitFor({ state: "detached" });
  assert.deepEqual(await calls(), []);

  await page.getByRole("button", { name: "Count by kind" }).click();
  await editor.click();
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.getByRole("cell", { name: "sail" }).waitFor();
  assert.deepEqual(await calls(), ["execute_sql"]);
  await assertAccessible(page, "the SQL page with tables");
  await page.getByText("Saved queries").click();
  await page.getByLabel("Name of the query").fill("Boats by kind");
  await page.getByRole("button", { name: "Save the query" }).click();
  await picture(page, "sql_page");
  await page.reload();
  await page.getByText("Saved queries").click();
  await page.getByRole("button", { name: "Boats by kind", exact: true }).click();
  await editor.getByText("group").waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await assertFits(page, "the SQL page at 360 px");
  await picture(page, "sql_page_360");
  assert.deepEqual(await calls(), ["execute_sql"]);
  assert.deepEqual(reader.offences, []);
});

consoleTest(
  "a part of the page that cannot be loaded waits, and the text stays",
  async (fixture) => {
    await using reader = await fixture.open();
    const { page } = reader;
    await reader.signUp("patient");
    await reader.go("/jobs/new");
    const input = page.getByLabel("Input", { exact: true });
    await page.getByLabel("Agent", { exact: true }).selectOption("writer");
    await input.fill("Half a sentence");
    await page.route(`${fixture.console.url}/**`, (route) => route.abort());
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByText("A part of this page could not be loaded").waitFor();
    assert.equal(await input.inputValue(), "Half a sentence");
    await assertAccessible(page, "a page that waits for a part");
    await picture(page, "part_missing");
    await page.unroute(`${fixture.console.url}/**`);
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await page.getByText("A part of this page could not be loaded").waitFor({ state: "detached" });
    const styles = '[...document.querySelectorAll("link[rel=stylesheet]")]';
    assert.equal(await page.evaluate(`${styles}.every(({ sheet }) => sheet !== null)`), true);
  },
);

consoleTest("a new release reloads the page, and the text stays", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("updated");
  await reader.go("/jobs/new");
  const input = page.getByLabel("Input", { exact: true });
  await page.getByLabel("Agent", { exact: true }).selectOption("writer");
  await input.fill("Half a sentence");
  await page.route("**/assets/DocumentsPage-*", (route) => route.fulfill({ status: 404 }));
  await page.route(`${fixture.console.url}/`, async (route) => {
    // The page asks which release the server has; its own reload gets the files that there are.
    if (route.request().resourceType() === "document") return await route.continue();
    await route.fulfill({ body: '<script type="module" src="./assets/index-next.js"></script>' });
  });
  const reloaded = page.waitForEvent("load");
  await page.getByRole("link", { name: "Documents" }).click();
  await reloaded;
  await input.waitFor();
  assert.equal(await input.inputValue(), "Half a sentence");
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "writer");
});
