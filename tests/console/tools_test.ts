import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { startAuthorizationServer } from "../gateway/mcp/authorization_server.ts";
import { startExternalServer } from "../gateway/mcp/external_server.ts";
import { startProtectedServer } from "../gateway/mcp/protected_server.ts";
import { addTool } from "../e2e/operator.ts";
import { scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  openConsoleFixture,
  picture,
  pictures,
  type Reader,
} from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

function runButton({ page }: Reader) {
  return page.getByRole("button", { name: "Run", exact: true });
}

/** Waits until a tool's answer is shown; the previous one stays until then. */
async function untilAnswered({ page }: Reader): Promise<void> {
  await page.waitForResponse((response) =>
    response.url().includes("mcp-execute") && response.request().method() === "POST"
  );
  await page.getByText("Running …").waitFor({ state: "detached" });
}

/** Opens the SQL page, types a statement and runs it. */
async function runStatement({ page, go }: Reader, statement: string): Promise<void> {
  await go("/sql");
  await page.locator("[data-editor] .cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(statement);
  await page.keyboard.press("ControlOrMeta+Enter");
}

consoleTest(
  "a tool runs with the form and with JSON, is graded, and its call is listed",
  async (fixture) => {
    await using reader = await fixture.open();
    const { page } = reader;
    const id = await reader.signUp("tooler");
    await reader.go("/tools?server=swarm&tool=list_tasks");
    await runButton(reader).click();
    await page.locator("[data-result]").getByText("Succeeded").waitFor();
    await page.getByRole("tab", { name: "JSON" }).first().click();
    await page.getByLabel("Arguments as JSON").fill('{"limit": "many"}');
    await runButton(reader).click();
    await page.getByRole("alert").getByText("do not match").waitFor();
    await page.getByLabel("Arguments as JSON").fill('{"limit": 5}');
    const answered = untilAnswered(reader);
    await runButton(reader).click();
    await answered;
    await page.getByRole("button", { name: "Good", exact: true }).click();
    await page.getByText("Thank you").waitFor();
    await page.getByRole("button", { name: "4 stars" }).click();
    await page.locator('[aria-label="4 stars"][aria-pressed="true"]').waitFor();
    await picture(page, "tools");
    await reader.go("/calls");
    await page.getByRole("link", { name: "swarm · list_tasks" }).first().click();
    await page.getByRole("button", { name: "Run again" }).waitFor();

    const grades = await fixture.platform.sql`
      select rating, rating_score, request_data as arguments from public.mcp_feedback as grade
      join public.mcp_executions as execution on execution.id = grade.execution_id
      where execution.user_id = ${id}`;
    assert.deepEqual([...grades], [{ rating: "up", rating_score: 4, arguments: { limit: 5 } }]);
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest("the third consecutive failure asks for feedback once", async (fixture) => {
  await using server = await startExternalServer();
  const { sql } = fixture.platform;
  await addTool(sql, { slug: "notes", type: "mcp_server", config: { mcp_url: server.url } });
  await using reader = await fixture.open();
  const { page } = reader;
  const id = await reader.signUp("unlucky");
  await grantScopes(sql, id, ["mcp:notes"]);
  await reader.go("/tools?server=notes&tool=fail");

  const dialog = page.getByRole("dialog");
  const fail = async () => {
    const answered = untilAnswered(reader);
    await runButton(reader).click();
    await answered;
    await page.locator("[data-result]").getByText("No ink left").first().waitFor();
  };
  await fail();
  await fail();
  assert.equal(await dialog.count(), 0, "two failures open no dialog");
  await fail();
  await dialog.waitFor();
  await assertAccessible(page, "the feedback dialog");
  await picture(page, "feedback_modal");
  await dialog.getByLabel("Comment").fill("The pen is empty");
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText("Thank you").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await dialog.waitFor({ state: "detached" });
  await fail();
  assert.equal(await dialog.count(), 0, "the same streak asks once");

  const comments = await sql`
    select comment from public.mcp_feedback as grade
    join public.mcp_executions as execution on execution.id = grade.execution_id
    where execution.user_id = ${id}`;
  assert.deepEqual([...comments], [{ comment: "The pen is empty" }]);
  assert.deepEqual(reader.offences, []);
});

consoleTest("no cell of an exported CSV file is a formula", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  const id = await reader.signUp("analyst");
  await grantScopes(fixture.platform.sql, id, ["sql:read"]);
  await runStatement(
    reader,
    `select -5 as n, '=HYPERLINK("https://evil.example")' as formula, '@sum(1)' as "+head",
      'a, "b"' as quoted, null as nothing`,
  );
  const result = page.locator("[data-result]");
  await result.getByRole("columnheader", { name: "formula" }).waitFor();
  await picture(page, "sql_result");
  const downloading = page.waitForEvent("download");
  await result.getByRole("button", { name: "CSV" }).click();
  const download = await downloading;

  assert.match(download.suggestedFilename(), /\.csv$/);
  const text = await Deno.readTextFile(await download.path() ?? "");
  assert.equal(
    text,
    `n,formula,"'+head",quoted,nothing\r\n` +
      `-5,"'=HYPERLINK(""https://evil.example"")","'@sum(1)","a, ""b""",\r\n`,
  );
  assert.deepEqual(reader.offences, []);
});

consoleTest("a question becomes SQL, and its write runs after confirmation", async (fixture) => {
  const { sql, stack } = fixture.platform;
  await sql.unsafe(`
    create table public.shelves (id int primary key, label text not null);
    alter table public.shelves enable row level security;
    create policy "everybody" on public.shelves for all to authenticated using (true);
    grant select, update on public.shelves to authenticated;
    insert into public.shelves select n, 'old' from generate_series(1, 3) as n`);
  const statement = "update public.shelves set label = 'new' where id <= 2";
  stack.models.addAgent(scriptTurns("sql-writer", { text: "```sql\n" + statement + "\n```" }));
  await sql`
    update public.mcp_tool_models set default_provider = 'demo', default_model = 'sql-writer',
      supported_providers = '{demo}'
    where mcp_name = 'supabase' and tool_name = 'generate_sql'`;
  await using reader = await fixture.open();
  const { page } = reader;
  const id = await reader.signUp("librarian");
  await grantScopes(sql, id, ["sql:read", "sql:write"]);
  const labels = async () => {
    const rows = await sql<{ label: string }[]>`select label from public.shelves order by id`;
    return rows.map(({ label }) => label);
  };

  await reader.go("/sql");
  await page.getByLabel("Question in plain English").fill("Relabel the first two shelves");
  await page.getByRole("button", { name: "Write the SQL" }).click();
  await page.locator("[data-editor] .cm-content").getByText("update").first().waitFor();
  await runButton(reader).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("shelves").first().waitFor();
  assert.deepEqual(await labels(), ["old", "old", "old"], "the plan changes nothing");
  await assertAccessible(page, "the confirmation of a write");
  await picture(page, "sql_confirmation");
  await dialog.getByRole("button", { name: "Back" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await labels(), ["old", "old", "old"], "going back writes nothing");
  await runButton(reader).click();
  await dialog.getByRole("button", { name: "Run the write" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator("[data-result]").getByText("Succeeded").waitFor();
  await page.getByText("Running …").waitFor({ state: "detached" });
  assert.deepEqual(await labels(), ["new", "new", "old"]);

  // Two plans and one run: the plan that was confirmed is in the row of its run.
  await reader.go("/calls?tool=execute_sql");
  const calls = page.getByRole("link", { name: "supabase · execute_sql" });
  await calls.first().waitFor();
  assert.equal(await calls.count(), 2);
  await pictures(page, "calls_with_plan");
  await page.getByRole("link", { name: "its plan" }).click();
  await page.getByRole("region", { name: "Call" }).getByText("dry_run").first().waitFor();
  assert.deepEqual(reader.offences, []);
});

consoleTest(
  "three wrong answers open the editor with the last SQL, all attempts and the dialog",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    const wrong = ["select 1 from moon", "select 2 from mars", "select 3 from venus"];
    stack.models.addAgent(
      scriptTurns(
        "star-gazer",
        { text: wrong[0] ?? "" },
        { text: wrong[1] ?? "" },
        { text: wrong[2] ?? "" },
      ),
    );
    await sql`
      update public.mcp_tool_models set default_provider = 'demo', default_model = 'star-gazer',
        supported_providers = '{demo}'
      where mcp_name = 'supabase' and tool_name = 'generate_sql'`;
    await using reader = await fixture.open();
    const { page } = reader;
    const id = await reader.signUp("astronomer");
    await grantScopes(sql, id, ["sql:read"]);

    await reader.go("/sql");
    await page.getByLabel("Question in plain English").fill("How far is Venus?");
    await page.getByRole("button", { name: "Write the SQL" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.locator("[data-editor] .cm-content").getByText("venus").waitFor();
    for (const statement of wrong) {
      await page.getByLabel("Attempts").getByText(statement).first().waitFor();
    }
    await assertAccessible(page, "the attempts of a question");
    await picture(page, "sql_attempts");
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest("users connect and disconnect their own account", async (fixture) => {
  await using authority = await startAuthorizationServer();
  await using diary = await startProtectedServer(authority);
  const { sql } = fixture.platform;
  await addTool(sql, { slug: "diary", type: "mcp_server", config: { mcp_url: diary.url } });
  await using reader = await fixture.open({ origins: [authority.issuer] });
  const { page } = reader;
  const id = await reader.signUp("diarist");
  await grantScopes(sql, id, ["mcp:diary"]);

  await reader.go("/tools?server=diary");
  await page.getByRole("button", { name: "Connect your account" }).click();
  await page.locator('input[name="login"]').fill("ada@diary");
  await page.locator('input[name="password"]').fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Your account is connected").first().waitFor();
  assert.equal(
    page.url().includes("confirmation"),
    false,
    "the answer is removed from the address",
  );
  await page.getByRole("button", { name: /whoami/ }).click();
  await runButton(reader).click();
  await page.locator("[data-result]").getByText("diary of ada@diary").waitFor();
  await picture(page, "account_connected");
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("button", { name: "Connect your account" }).waitFor();
  const left = await sql`select 1 from public.user_tool_credentials where user_id = ${id}`;
  assert.equal(left.length, 0);
});
