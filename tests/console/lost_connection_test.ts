import assert from "node:assert/strict";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { launchChromium } from "../../scripts/console/launch_chromium.ts";
import { sessionKey } from "../../scripts/console/session_key.ts";
import { buildStaleConsole } from "../../scripts/console/build_console.ts";
import { startPlatform } from "../../scripts/platform/start_platform.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { ensureKeys } from "../../stack/keys/keys.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openReader, picture, type Reader, serveTestConsole } from "./console_fixture.ts";
import { startCuttingProxy } from "./cutting_proxy.ts";
import { addPacedAgent, type PacedAgent } from "./paced_agent.ts";

/** A platform that can be stopped and restarted with the same data, keys and port. */
async function openFixture() {
  const browser = await launchChromium();
  await buildStaleConsole();
  const dataDir = await Deno.makeTempDir({ prefix: "supaswarm-browser-" });
  const start = (port: number) =>
    startPlatform({
      db: TEST_DATABASE,
      port,
      dataDir,
      projectRoot: PROJECT_ROOT,
      watch: false,
      env: {},
      onLog: () => {},
    });
  const fixture = {
    browser,
    models: await startModelServer(),
    dataDir,
    stack: await start(0),
    async restart() {
      await fixture.stack.stop();
      fixture.stack = await start(Number(new URL(fixture.stack.apiUrl).port));
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await fixture.stack.stop();
      await fixture.models.stop();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
  return fixture;
}
type Fixture = Awaited<ReturnType<typeof openFixture>>;

const lossTest = testsSharing(openFixture);
const TURNS = 8;

/** Runs in the page each frame: the numbers of the visible steps, from top to bottom. */
const WATCH_STEPS = `(() => {
  window.disorders = [];
  const look = () => {
    const rows = [...document.querySelectorAll("[data-trace-row]")]
      .map((row) => ({ top: new DOMMatrix(getComputedStyle(row).transform).m42, id: row.id }))
      .sort((a, b) => a.top - b.top).map(({ id }) => Number(id.split(":")[1] ?? 0));
    if (rows.some((seq, index) => index > 0 && seq <= rows[index - 1])) {
      window.disorders.push(rows.join(" "));
    }
    requestAnimationFrame(look);
  };
  look();
})()`;

/** Opens a job of a paced agent in a new window. */
async function openJob(
  { browser, stack, models }: Fixture,
  { name, apiUrl = stack.apiUrl, prepare }: {
    readonly name: string;
    readonly apiUrl?: string;
    readonly prepare?: (reader: Reader, sessionKey: string) => Promise<void>;
  },
) {
  const project = { apiUrl, publishableKey: stack.publishableKey };
  const served = serveTestConsole(project);
  const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "lost-connection" });
  const agent = await addPacedAgent({ sql, models, slug: name, turns: TURNS });
  await sql.end({ timeout: 1 });
  const reader = await openReader(browser, { consoleUrl: served.url, project });
  await reader.signUp(name);
  await prepare?.(reader, sessionKey(project));
  const { page, go } = reader;
  await go("/jobs/new");
  await page.getByLabel("Agent", { exact: true }).selectOption(name);
  await page.getByLabel("Input", { exact: true }).fill("Save values");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL(/#\/jobs\/[0-9a-f-]{36}/);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(WATCH_STEPS);
  const id = page.url().split("/jobs/")[1]?.slice(0, 36) ?? "";
  return {
    agent,
    page,
    id,
    reader,
    async [Symbol.asyncDispose]() {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await reader[Symbol.asyncDispose]();
      await served.stop();
    },
  };
}

/** Waits until the trace shows a task and this many of its steps. */
async function untilSteps({ page }: Reader, count: number): Promise<void> {
  const rows = page.locator("[data-trace-row]");
  await waitFor(async () => await rows.count() === count + 1, {
    what: `${count} steps in the trace`,
  });
}

/** Asserts that the page shows the database's contents: each step and each event once, in order. */
async function assertComplete(
  { stack }: Fixture,
  { reader, page, agent, id }: {
    readonly reader: Reader;
    readonly page: Reader["page"];
    readonly agent: PacedAgent;
    readonly id: string;
  },
): Promise<void> {
  agent.release(TURNS);
  await page.locator("header .chip").getByText("Completed").waitFor();
  const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "lost-connection" });
  const steps = await sql<{ seq: number }[]>`
    select seq from public.task_steps where task_id = ${id} order by seq`;
  const events = await sql<{ type: string }[]>`
    select type from public.task_events where master_task_id = ${id} order by id desc`;
  await sql.end({ timeout: 1 });
  assert.ok(steps.length >= TURNS, `${steps.length} steps`);
  await untilSteps(reader, steps.length);
  assert.deepEqual(await page.evaluate("window.disorders"), []);
  const shown = await page.locator("[data-trace-row]").evaluateAll((rows) =>
    rows.map(({ id }) => Number(id.split(":")[1] ?? 0)).sort((a, b) => a - b)
  );
  assert.deepEqual(shown, [0, ...steps.map(({ seq }) => Number(seq))]);
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByText("task.completed").waitFor();
  const types = await page.locator("main summary code").allTextContents();
  assert.deepEqual(types, events.map(({ type }) => type));
}

lossTest("a socket that a proxy cuts loses and repeats no event", async (fixture) => {
  await using proxy = await startCuttingProxy(Number(new URL(fixture.stack.apiUrl).port));
  const apiUrl = `http://127.0.0.1:${proxy.port}`;
  await using job = await openJob(fixture, { name: "cut", apiUrl });
  const { page, agent, reader } = job;
  agent.release(2);
  await untilSteps(reader, 5);

  proxy.cut();
  agent.release(3);
  await page.getByRole("status").filter({ hasText: "The project is not responding" }).waitFor();
  assert.ok(await page.locator("[data-trace-row]").count() >= 6, "the earlier rows stay");
  await picture(page, "job_unreachable");
  proxy.restore();
  await untilSteps(reader, 11);
  await page.getByText("Live", { exact: true }).waitFor();
  await assertComplete(fixture, job);
});

lossTest(
  "a token that expires on an open page is refreshed, and nothing is lost",
  async (fixture) => {
    const keys = await ensureKeys(fixture.dataDir);
    const lifeSeconds = 6;
    let renewals = 0;
    await using job = await openJob(fixture, {
      name: "expire",
      prepare: async ({ page }, key) => {
        // Sessions of a few seconds: Auth's answers are signed again with another expiry.
        await page.route("**/auth/v1/token?grant_type=refresh_token", async (route) => {
          const answer = await route.fetch();
          const session = await answer.json();
          const claims = await keys.verifyUserToken(session.access_token);
          if (claims === null) return await route.fulfill({ response: answer });
          renewals++;
          const exp = Math.floor(Date.now() / 1000) + lifeSeconds;
          await route.fulfill({
            response: answer,
            json: {
              ...session,
              access_token: await keys.signUserToken({ ...claims, exp }),
              expires_in: lifeSeconds,
              expires_at: exp,
            },
          });
        });
        await page.evaluate((name) => {
          const session = JSON.parse(localStorage.getItem(name) ?? "{}");
          localStorage.setItem(name, JSON.stringify({ ...session, expires_at: 1 }));
        }, key);
      },
    });
    const { page, agent, reader } = job;
    agent.release(1);
    await untilSteps(reader, 3);
    // The server closes the channel when the token expires, without a request.
    await page.getByText(/Asks every/).waitFor();
    const before = renewals;
    agent.release(3);
    await untilSteps(reader, 9);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.ok(renewals > before, "the session was refreshed");
    await assertComplete(fixture, job);
    assert.deepEqual(reader.offences, []);
  },
);

lossTest("a restarted stack resumes the job, and the page follows", async (fixture) => {
  await using job = await openJob(fixture, { name: "restart" });
  const { page, agent, reader } = job;
  agent.release(2);
  await untilSteps(reader, 5);
  await fixture.restart();
  agent.release(3);
  await untilSteps(reader, 11);
  await page.getByText("Live", { exact: true }).waitFor();
  await assertComplete(fixture, job);
});
