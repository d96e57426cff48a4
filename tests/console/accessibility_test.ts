import assert from "node:assert/strict";
import type { Page } from "../deps.ts";
import { startExternalServer } from "../gateway/mcp/external_server.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { addAgent, addTool } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { buryJob } from "./bury_job.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  type ConsoleFixture,
  createIdleWait,
  openConsoleFixture,
  picture,
  type Reader,
} from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);
/** 1280 px at 200 % zoom, and almost at 400 %: a phone. */
const WIDTHS = [1280, 640, 360];
/** The rules of axe whose results depend on colors. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** A state of the console. */
interface View {
  readonly name: string;
  readonly path: string;
  /** Navigates from the page to the state. */
  readonly open?: (reader: Reader) => Promise<void>;
}

/** What addresses name. */
interface OpenedReader {
  readonly reader: Reader;
  readonly jobId: string;
  /** Two runs of the reader's evals. */
  readonly evalRunIds: readonly string[];
}

/** An operator with a job that waits for a review, and with every kind of row. */
async function openReaderWithJob(
  { platform: { sql, stack }, open }: ConsoleFixture,
  { name, serverUrl }: { readonly name: string; readonly serverUrl: string },
): Promise<OpenedReader> {
  stack.models.addAgent(
    scriptTurns(
      name,
      call("save_intermediate_data", { key: "draft", value: { words: 1200 } }),
      call("request_human_review", { question: "**Publish** it?", options: ["Now", "Later"] }),
      complete("published"),
    ),
  );
  await addAgent(sql, { slug: name });
  await addTool(sql, { slug: `${name}-notes`, type: "mcp_server", config: { mcp_url: serverUrl } });
  const reader = await open();
  const userId = await reader.signUp(name);
  await grantScopes(sql, userId, ["sql:read", "swarm:run", "swarm:operate", `mcp:${name}-notes`]);
  const { page } = reader;
  await reader.go("/jobs/new");
  await page.getByLabel("Agent", { exact: true }).selectOption(name);
  await page.getByLabel("Input", { exact: true }).fill("Write a draft");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL(/#\/jobs\/[0-9a-f-]{36}/);
  await page.locator("header .chip").getByText("Needs review").waitFor();
  await buryJob(sql, { agent: name, ownerId: userId, error: { code: "MODEL_UNAVAILABLE" } });
  const jobId = page.url().split("/jobs/")[1]?.slice(0, 36) ?? "";
  const evalRunIds = await Promise.all([
    addEvalRun(sql, { agent: name, userId, jobId, passed: true }),
    addEvalRun(sql, { agent: name, userId, jobId, passed: false }),
  ]);
  return { reader, jobId, evalRunIds };
}

/** Adds a run of one test with two jobs, the second of which passes or not. */
async function addEvalRun(
  sql: Sql,
  { agent, userId, jobId, passed }: {
    readonly agent: string;
    readonly userId: string;
    readonly jobId: string;
    readonly passed: boolean;
  },
): Promise<string> {
  const [run] = await sql`
    select id from private.begin_eval_run(p_agent => ${agent}, p_user_id => ${userId})`;
  const runId = String(run?.id);
  for (const [index, hasPassed] of [true, passed].entries()) {
    const reason = hasPassed ? null : 'the output is "published"; expected equals "announced"';
    const result = {
      test: "publishes what a person approves",
      repeat: index + 1,
      task_id: jobId,
      passed: hasPassed,
      score: Number(hasPassed),
      assertions: [{ type: "equals", passed: hasPassed, score: 0, weight: 1, reason }],
    };
    await sql`
      select private.record_eval_result(p_run_id => ${runId}, p_result => ${sql.json(result)})`;
  }
  await sql`select private.end_eval_run(p_run_id => ${runId})`;
  return runId;
}

async function runTool({ page }: Reader): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("[data-result]").waitFor();
}

function views(
  { jobId, evalRunIds: [evalRunId, otherRunId] }: OpenedReader,
  server: string,
): readonly View[] {
  const pages = [
    "/evals",
    "/jobs",
    "/jobs/new",
    "/reviews",
    "/calls",
    "/usage",
    "/documents",
    "/setup",
    "/settings",
  ];
  const operations = ["queue", "stuck", "failures", "dead", "jobs", "servers", "checks", "acts"];
  return [
    ...pages.map((path) => ({ name: path.slice(1).replace("/", "_"), path })),
    { name: "not_found", path: "/no/such/page" },
    { name: "job_not_found", path: `/jobs/${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}` },
    { name: "eval_run", path: `/evals/${evalRunId}` },
    { name: "eval_runs_compared", path: `/evals/${otherRunId}?against=${evalRunId}` },
    {
      name: "job_step",
      path: `/jobs/${jobId}`,
      open: async ({ page }) => {
        await page.getByRole("treeitem").nth(2).click();
        await page.getByRole("heading", { name: "Arguments" }).waitFor();
      },
    },
    { name: "job_conversation", path: `/jobs/${jobId}?tab=conversation` },
    { name: "job_data", path: `/jobs/${jobId}?tab=data` },
    { name: "job_events", path: `/jobs/${jobId}?tab=events` },
    {
      name: "job_fork",
      path: `/jobs/${jobId}?tab=trace`,
      open: async ({ page }) => {
        await page.getByRole("treeitem").nth(2).click();
        await page.getByRole("button", { name: "Fork from here" }).click();
        await page.getByRole("dialog").waitFor();
      },
    },
    { name: "agents", path: "/tools?view=agents&agent=writer" },
    { name: "tools", path: `/tools?server=${server}` },
    { name: "tool_failure", path: `/tools?server=${server}&tool=fail`, open: runTool },
    { name: "tool_table", path: "/tools?server=swarm&tool=list_tasks", open: runTool },
    {
      name: "sql",
      path: "/sql",
      open: async ({ page }) => {
        await page.locator("[data-editor] .cm-content").click();
        await page.keyboard.insertText(
          "select n, 'row ' || n as label from generate_series(1, 50) n",
        );
        // Closes the completions.
        await page.keyboard.press("Escape");
        await page.keyboard.press("ControlOrMeta+Enter");
        await page.locator("[data-result]").getByRole("columnheader", { name: "label" }).waitFor();
      },
    },
    ...operations.map((view) => ({
      name: `operations_${view}`,
      path: `/operations?view=${view}`,
    })),
    {
      name: "operations_dialog",
      path: "/operations?view=dead&",
      open: async ({ page }) => {
        await page.getByRole("button", { name: "Redrive" }).first().click();
        await page.getByRole("dialog").waitFor();
      },
    },
    {
      name: "palette",
      path: "/jobs?status=failed",
      open: async ({ page }) => {
        await page.keyboard.press("ControlOrMeta+k");
        await page.getByRole("dialog").waitFor();
      },
    },
    {
      name: "shortcuts",
      path: "/jobs?status=completed",
      open: async ({ page }) => {
        await page.locator("main").focus();
        await page.keyboard.press("?");
        await page.getByRole("dialog").waitFor();
      },
    },
  ];
}

/**
 * Asserts that a state of a page follows WCAG in both color schemes. They differ only in their
 * colors, so dark repeats only the rules about these.
 *
 * @param view For the name of the screenshots.
 */
async function assertAccessibleInBothSchemes(
  page: Page,
  { what, view }: { readonly what: string; readonly view: string },
): Promise<void> {
  await assertAccessible(page, `${what}, light`);
  await assertAccessible(page, `${what}, headings`, ["heading-order"]);
  await picture(page, `${view}_light`);
  await showScheme(page, "dark");
  try {
    await assertAccessible(page, `${what}, dark`, COLOR_RULES);
    await picture(page, `${view}_dark`);
  } finally {
    await showScheme(page, "light");
  }
}

/** Shows the page in a scheme, without colors between both. */
async function showScheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(`new Promise((done) => requestAnimationFrame(() => {
    for (const animation of document.getAnimations()) {
      if (animation instanceof CSSTransition) animation.finish();
    }
    done();
  }))`);
}

consoleTest(
  "every page follows WCAG and fits at 1280, 640 and 360 px, light and dark",
  async (fixture) => {
    await using server = await startExternalServer();
    const name = "visitor";
    const opened = await openReaderWithJob(fixture, { name, serverUrl: server.url });
    const { reader } = opened;
    await using _reader = reader;
    const { page } = reader;
    const untilIdle = createIdleWait(page);
    const problems: string[] = [];
    for (const { name: view, path, open } of views(opened, `${name}-notes`)) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await reader.go(path);
      await page.getByRole("heading").first().waitFor();
      await open?.(reader);
      await untilIdle();
      // Each part of a page reads for itself.
      await page.locator("[data-loading]").first().waitFor({ state: "detached" });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const what = `${view} at ${width} px`;
        try {
          await assertFits(page, what);
          // Between phone and desktop only the layout changes.
          if (width !== 640) {
            await assertAccessibleInBothSchemes(page, { what, view: `${view}_${width}` });
          }
        } catch (error) {
          problems.push(error instanceof Error ? error.message : String(error));
        }
      }
      await page.keyboard.press("Escape");
    }
    assert.deepEqual(problems, []);
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest("the sign-in page follows WCAG and fits, light and dark", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.go("/sign-in");
  await page.getByLabel("Password").waitFor();
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    const what = `sign-in at ${width} px`;
    await assertFits(page, what);
    await assertAccessibleInBothSchemes(page, { what, view: `sign_in_${width}` });
  }
  assert.deepEqual(reader.offences, []);
});

consoleTest("nothing moves for users who prefer reduced motion", async (fixture) => {
  await using server = await startExternalServer();
  const { reader, jobId } = await openReaderWithJob(fixture, {
    name: "calm",
    serverUrl: server.url,
  });
  await using _reader = reader;
  const { page } = reader;
  const untilIdle = createIdleWait(page);
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const path of [`/jobs/${jobId}`, "/jobs", "/tools"]) {
    await reader.go(path);
    await untilIdle();
    const moving = await page.evaluate(
      "document.getAnimations().filter(({ playState, effect }) => playState === 'running' && " +
        "effect.getComputedTiming().duration > 20).length",
    );
    assert.equal(moving, 0, path);
  }
});

consoleTest("a dialog keeps the focus, and returns it when it closes", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("keyboard");
  await reader.go("/jobs");
  await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  const opener = page.getByRole("link", { name: "Usage" });
  await opener.focus();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("combobox").waitFor();
  for (let presses = 0; presses < 6; presses++) {
    await page.keyboard.press("Tab");
    const isInside = await page.evaluate(
      "document.querySelector('[role=dialog]')?.contains(document.activeElement) ?? false",
    );
    assert.equal(isInside, true, `after ${presses + 1} presses of Tab`);
  }
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await opener.evaluate((element) => element.matches(":focus")), true);

  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("calls");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Calls", level: 1 }).waitFor();

  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
  assert.deepEqual(reader.offences, []);
});
