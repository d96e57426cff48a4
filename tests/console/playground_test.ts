import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent, toolId } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, picture } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest(
  "an operator tries another prompt, model and tool set, and keeps the try",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    const answer = (model: string, words: string) =>
      scriptTurns(model, ({ system, toolNames }) => {
        const isBrief = system.includes("Be brief.");
        const hasSql = toolNames.some((name) => name.startsWith("supabase__"));
        return complete(`${words}${isBrief ? ", briefly" : ""}${hasSql ? ", with SQL" : ""}`);
      });
    stack.models.addAgent(answer("tried", "Boats sail"));
    stack.models.addAgent(answer("tried-2", "Boats row"));
    await addAgent(sql, {
      slug: "tried",
      tools: [{ id: await toolId(sql, "supabase") }],
    });
    await using reader = await fixture.open();
    const { page } = reader;
    await grantScopes(sql, await reader.signUp("trying"), [
      "swarm:run",
      "swarm:operate",
      "swarm:configure",
      "sql:read",
    ]);
    const original = await startJob(reader, "tried", "Write about boats");
    await untilChip(reader, "Completed");

    await page.locator("header").getByRole("link", { name: "Playground" }).click();
    await page.getByRole("heading", { name: "Playground of tried" }).waitFor();
    const input = page.getByLabel("Input", { exact: true });
    assert.equal(await input.inputValue(), "Write about boats");
    await page.getByText("No tries yet.").waitFor();
    await page.getByLabel("System prompt").fill("Be brief.");
    await page.getByLabel("model", { exact: true }).fill("tried-2");
    await page.getByRole("button", { name: "Remove tools 1" }).click();
    await page.getByText("Changes for the try: prompt, provider, model, tools.").waitFor();
    await page.getByRole("button", { name: "Try it" }).click();
    const tries = page.getByRole("region", { name: "Tries" });
    await tries.getByRole("button", { name: /Try 1.*Completed/ }).waitFor();
    const output = tries.getByRole("group", { name: "Differences of the output" });
    await output.locator("ins").first().waitFor();
    assert.deepEqual(await output.locator("ins").allTextContents(), ["row", "briefly"]);
    assert.deepEqual(await output.locator("del").allTextContents(), ["sail", "with SQL"]);
    const readAgent = async () => {
      const [row] = await sql`
        select system_prompt, model, revision from public.agents where slug = 'tried'`;
      return [row?.system_prompt, row?.model, row?.revision];
    };
    const [job] = await sql`select agent_revision from public.tasks where id = ${original}::uuid`;
    const revision = Number(job?.agent_revision);
    assert.deepEqual(await readAgent(), ["You are a test.", "tried", revision]);
    await assertAccessible(page, "a try beside the original");
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1280, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await assertFits(page, `the playground at ${width} px`);
        await page.evaluate("scrollTo(0, 0)");
        await picture(page, `playground_${width}_${scheme}`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });

    await input.fill("Write about rivers");
    await page.getByRole("button", { name: "Try it" }).click();
    await tries.getByRole("button", { name: /Try 2.*Completed/ }).waitFor();
    await page.reload();
    await tries.getByRole("button", { name: /Try 1/ }).click();
    await tries.getByRole("heading", { name: "Input of both" }).waitFor();
    await tries.getByRole("button", { name: "Keep as an eval" }).click();
    const test = page.getByRole("dialog");
    await test.getByText("Write about boats").waitFor();
    await page.keyboard.press("Escape");
    await test.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Keep this try as a revision" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("ins").getByText("Be brief.").waitFor();
    await picture(page, "playground_keep");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(await readAgent(), ["Be brief.", "tried-2", revision + 1]);

    await reader.go("/setup/agent/tried");
    // The page that is left has a field of this name too.
    await page.getByRole("heading", { name: "tried", exact: true, level: 1 }).waitFor();
    await page.getByLabel("System prompt").fill("Be very brief.");
    await page.getByRole("link", { name: "Try it" }).click();
    await page.getByText("Changes for the try: prompt.").waitFor();
    await page.getByText("No tries yet. The results appear here.").waitFor();
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest("a user tries another input, but no other prompt, model or tools", async (fixture) => {
  const { sql, stack } = fixture.platform;
  stack.models.addAgent(scriptTurns("plain", complete("Done")));
  await addAgent(sql, { slug: "plain" });
  await using reader = await fixture.open({ width: 390, scheme: "dark" });
  const { page } = reader;
  await reader.signUp("plain-user");
  const id = await startJob(reader, "plain", "First");
  await untilChip(reader, "Completed");

  await reader.go(`/playground/plain?job=${id}`);
  await page.getByText("People with the scope swarm:configure").waitFor();
  assert.equal(await page.getByLabel("System prompt").count(), 0);
  await page.getByLabel("Input", { exact: true }).fill("Second");
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("button", { name: /Try 1.*Completed/ }).waitFor();
  const changed = page.getByRole("group", { name: "Differences of the input" });
  await changed.locator("ins").getByText("Second", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Keep this try as a revision" }).count(), 0);
  await assertAccessible(page, "the playground of a user");
  await assertFits(page, "the playground of a user");
  await picture(page, "playground_user_390_dark");
  await reader.go("/playground/nobody");
  await page.getByText("nobody").first().waitFor();
  await page.getByText("you may not use it").waitFor();
  assert.deepEqual(reader.offences, []);
});

consoleTest(
  "a try of another prompt gets the script's answer, and a failure is a sentence",
  async (fixture) => {
    const { sql } = fixture.platform;
    await addAgent(sql, { slug: "scriptless", provider: "demo" });
    await using reader = await fixture.open();
    const { page } = reader;
    await grantScopes(sql, await reader.signUp("scripting"), [
      "swarm:run",
      "swarm:operate",
      "swarm:configure",
    ]);
    const tryPrompt = async (agent: string) => {
      await reader.go(`/playground/${agent}`);
      await page.getByRole("heading", { name: `Playground of ${agent}` }).waitFor();
      await page.getByLabel("System prompt").fill("Be brief.");
      await page.getByLabel("Input", { exact: true }).fill("We have webhooks");
      await page.getByRole("button", { name: "Try it" }).click();
    };

    // The script of this agent of the demo asks for a review of its draft.
    await tryPrompt("writer");
    await page.getByRole("button", { name: /Try 1.*prompt/ }).getByText("Needs review").waitFor();

    await tryPrompt("scriptless");
    const tries = page.getByRole("region", { name: "Tries" });
    const problem = tries.locator(".notice.bad");
    await problem.getByText("Cannot get an answer from provider 'demo'").waitFor();
    await problem.getByText("Set the agent's model").waitFor();
    assert.doesNotMatch(await tries.innerText(), /[{}]/);
    await assertAccessible(page, "a try that failed");
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await assertFits(page, `a failed try at ${width} px`);
        await problem.scrollIntoViewIfNeeded();
        await picture(page, `playground_failed_${width}_${scheme}`);
      }
    }
    assert.deepEqual(reader.offences, []);
  },
);
