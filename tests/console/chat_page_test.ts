import assert from "node:assert/strict";
import { launchChromium } from "../../scripts/console/launch_chromium.ts";
import { signUp } from "../../scripts/demo/user_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import type { Page } from "../deps.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { type PacedTextModel, startPacedTextModel } from "../e2e/paced_text_model.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { descendants } from "../stack/process_tree.ts";
import { serveChatPage, serveHowToPage } from "./chat_page/serve_chat_page.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting_proxy.ts";

const PIECES = ["The answer ", "comes in ", "three pieces."];
const WHOLE = PIECES.join("");
const AGENT = "chat-page";
/** An agent that asks a person before it answers. */
const REVIEWED = "chat-review";

type Protocol = "client" | "endpoint" | "ag-ui";

/** What each step uses. */
interface Scene {
  readonly protocol: Protocol;
  readonly platform: Platform;
  readonly model: PacedTextModel;
  readonly proxy: CuttingProxy;
  /** Opens the page of a new chat. */
  open(): Promise<Page>;
  /** The message of an undisturbed run. */
  undisturbed?: unknown;
}

Deno.test("pages of the stock packages end with the same message whatever happens", async (t) => {
  await using cleanUp = new AsyncDisposableStack();
  const browser = await launchChromium();
  cleanUp.defer(() => browser.close());
  const platform = cleanUp.use(
    await bootPlatform({
      env: { SUPASWARM_LEASE_SECONDS: "5", SUPASWARM_HEARTBEAT_SECONDS: "2" },
    }),
  );
  const model = cleanUp.use(startPacedTextModel(() => PIECES));
  await addProvider(platform.sql, { name: AGENT, baseUrl: model.baseUrl });
  await addAgent(platform.sql, { slug: AGENT, provider: AGENT });
  const proxy = cleanUp.use(await startCuttingProxy(Number(new URL(platform.project.apiUrl).port)));
  const served = cleanUp.use(await serveChatPage());
  const user = await signUp(platform.project, `page-${crypto.randomUUID()}`);
  cleanUp.defer(async () => void await user.client.realtime.disconnect());
  await t.step("the page of the how-to sends a message and shows the answer", async () => {
    await using howTo = await serveHowToPage(AGENT);
    const page = await browser.newPage();
    const { accessToken } = user;
    const settings = { ...platform.project, accessToken };
    await page.goto(`${howTo.url}#${encodeURIComponent(JSON.stringify(settings))}`);
    await page.getByLabel("Message").fill("Hello");
    model.release(PIECES.length);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(`assistant: ${WHOLE}`).waitFor({ timeout: 60_000 });
    await page.close();
  });
  await t.step("the page of the how-to shows a question, which a person rejects", async () => {
    platform.stack.models.addAgent(scriptTurns(
      REVIEWED,
      call("request_human_review", { question: "Publish it?", context: { draft: "A draft." } }),
      complete("It stays a draft."),
    ));
    await addAgent(platform.sql, { slug: REVIEWED });
    await using howTo = await serveHowToPage(REVIEWED);
    const page = await browser.newPage();
    const settings = { ...platform.project, accessToken: user.accessToken };
    const chat = `?chat=${crypto.randomUUID()}`;
    await page.goto(`${howTo.url}${chat}#${encodeURIComponent(JSON.stringify(settings))}`);
    await page.getByLabel("Message").fill("Write it");
    await page.getByRole("button", { name: "Send" }).click();
    const review = page.getByRole("group", { name: "Publish it?" });
    await review.getByText("A draft.").waitFor({ timeout: 60_000 });
    await review.getByRole("button", { name: "Approve" }).waitFor();
    await review.getByRole("button", { name: "Reject" }).click();
    await page.getByText("assistant: It stays a draft.").waitFor({ timeout: 60_000 });
    const [answer] = await platform.sql`
      select approved from public.human_reviews
      join public.tasks on tasks.id = task_id
      join public.agents on agents.id = tasks.agent_id where agents.slug = ${REVIEWED}`;
    assert.equal(answer?.approved, false);
    await page.close();
  });
  for (const protocol of ["client", "endpoint", "ag-ui"] as const) {
    const context = await browser.newContext();
    const open = async () => {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const settings = {
        protocol,
        apiUrl: `http://127.0.0.1:${proxy.port}`,
        publishableKey: platform.project.publishableKey,
        accessToken: user.accessToken,
        agent: AGENT,
        chatId: crypto.randomUUID(),
      };
      await page.goto(`${served.url}#${encodeURIComponent(JSON.stringify(settings))}`);
      return page;
    };
    const scene: Scene = { protocol, platform, model, proxy, open };
    const step = (claim: string, check: (scene: Scene) => Promise<void>) =>
      t.step(`${protocol}: ${claim}`, () => check(scene));
    await step("an undisturbed run", undisturbedRun);
    await step("a page that reloads in the middle", reloads);
    await step("a page that loses its network in the middle", losesNetwork);
    await step("a page whose worker is killed in the middle", losesWorker);
    if (protocol === "client") await step("a page that is stopped, and asks again", isStopped);
    await context.close();
  }
});

async function undisturbedRun(scene: Scene): Promise<void> {
  const { model, open } = scene;
  await using page = await begin(scene, await open());
  model.release(2);
  scene.undisturbed = await finalMessage(page.page);
  assert.match(JSON.stringify(scene.undisturbed), new RegExp(WHOLE));
}

async function reloads(scene: Scene): Promise<void> {
  await using opened = await begin(scene, await scene.open());
  await opened.page.reload();
  await untilShown(scene, opened.page);
  scene.model.release(2);
  assert.deepEqual(await finalMessage(opened.page), scene.undisturbed);
}

async function losesNetwork(scene: Scene): Promise<void> {
  const { model, proxy } = scene;
  await using opened = await begin(scene, await scene.open());
  proxy.cut();
  model.release(1);
  proxy.restore();
  model.release(1);
  assert.deepEqual(await finalMessage(opened.page), scene.undisturbed);
}

async function losesWorker(scene: Scene): Promise<void> {
  const { model } = scene;
  await using opened = await begin(scene, await scene.open());
  const { calls } = model;
  await killFunctions();
  // The repeated call is not streamed: it gets all pieces at once.
  await waitFor(() => model.calls > calls, { what: "the repeated call" });
  model.release(3);
  assert.deepEqual(await finalMessage(opened.page), scene.undisturbed);
}

async function isStopped(scene: Scene): Promise<void> {
  const { model, platform: { sql } } = scene;
  await using opened = await begin(scene, await scene.open());
  const { page } = opened;
  await page.click("#stop");
  const jobId = JSON.parse(await page.locator("#messages").innerText()).at(-1).metadata.job_id;
  await waitFor(async () => {
    const [task] = await sql`select status from public.tasks where id = ${jobId}::uuid`;
    return task?.status === "cancelled";
  }, { what: "the end of the job" });
  model.cut();
  await page.reload();
  await page.waitForSelector("[data-state=ready]");
  const stopped = JSON.parse(await page.locator("#messages").innerText()).at(-1);
  assert.match(JSON.stringify(stopped.parts), /The answer .*is_partial/);
  model.release(3);
  await page.click("#send");
  assert.deepEqual(await finalMessage(page, 4), scene.undisturbed);
}

/** Sends the message, and waits until the page shows the first piece of the answer. */
async function begin(scene: Scene, page: Page): Promise<{ page: Page } & AsyncDisposable> {
  const { model } = scene;
  const { calls } = model;
  await page.waitForSelector("[data-state=ready]");
  await page.click("#send");
  await waitFor(() => model.calls > calls, { what: "the call of the model" });
  model.release(1);
  await untilShown(scene, page);
  return { page, [Symbol.asyncDispose]: () => page.close() };
}

/** A worker with little CPU left does not stream. */
async function untilShown({ model }: Scene, page: Page): Promise<void> {
  await waitFor(
    async () =>
      !model.streams || (await page.locator("#messages").innerText()).includes("The answer"),
    { what: "the first piece on the page" },
  );
}

/** The last message of a page that has all of it, without what differs between chats. */
async function finalMessage(page: Page, count = 2): Promise<unknown> {
  let last: { role?: string; parts?: unknown; content?: unknown } = {};
  await waitFor(async () => {
    // First: what is read after it is not older.
    const isReady = await page.locator("[data-state=ready]").count() === 1;
    const messages = JSON.parse(await page.locator("#messages").innerText());
    last = messages.at(-1);
    return isReady && messages.length === count && JSON.stringify(last).includes(WHOLE);
  }, { what: "the whole message" });
  const { role, parts, content } = last;
  return { role, parts, content };
}

/** Kills the process of all isolates of this platform: no `beforeunload`, no last checkpoint. */
async function killFunctions(): Promise<void> {
  for (const pid of await descendants(Deno.pid)) {
    const command = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (command.includes("isolate_process.ts")) Deno.kill(pid, "SIGKILL");
  }
}
