import assert from "node:assert/strict";
import { join } from "node:path";
import { type Browser, loadAxeSource, loadPlaywright, type Page } from "../deps.ts";
import { buildConsole, isConsoleStale } from "../../scripts/console/build_console.ts";
import { serveConsole, type ServedConsole } from "../../scripts/console/serve_console.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";

const CHROMIUM = Deno.env.get("CHROMIUM_PATH") ?? "/usr/bin/chromium";
/** A folder for pictures of the pages; without one none are taken. */
const SCREENSHOTS = Deno.env.get("CONSOLE_SCREENSHOTS");
const STEP_LIMIT_MS = 30_000;
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Runs in the page before its own scripts. */
const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy violation: " + event.violatedDirective + " " + event.blockedURI));`;

/** The platform, its console, and a browser. */
export interface ConsoleFixture extends AsyncDisposable {
  readonly platform: Platform;
  readonly console: ServedConsole;
  /** A reader of their own, with nothing kept from others. */
  open(options?: ReaderOptions): Promise<Reader>;
}

/** How a reader looks at the console. */
export interface ReaderOptions {
  /** @default 1280 */
  readonly width?: number;
  readonly scheme?: "light" | "dark";
}

/** Somebody with a browser window. */
export interface Reader extends AsyncDisposable {
  readonly page: Page;
  /** What the page must not do: violations of the policy, dialogs, errors, foreign requests. */
  readonly offences: readonly string[];
  signUp(name: string): Promise<void>;
  /** Goes to a path of the console, such as `/jobs`. */
  go(path: string): Promise<void>;
}

/** Boots all of it. @throws Error that names what to install when there is no Chromium. */
export async function openConsoleFixture(): Promise<ConsoleFixture> {
  await assertChromium();
  if (await isConsoleStale()) await buildConsole();
  const platform = await bootPlatform();
  const served = serveConsole({
    port: 0,
    apiUrl: platform.stack.apiUrl,
    publishableKey: platform.stack.publishableKey,
    buildsAtOnce: false,
    onBuildFailure: (error) => assert.fail(error),
  });
  const { chromium } = await loadPlaywright();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  return {
    platform,
    console: served,
    open: (options) => openReader(browser, { platform, served, ...options }),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await served.stop();
      await platform[Symbol.asyncDispose]();
    },
  };
}

async function assertChromium(): Promise<void> {
  const isThere = await Deno.stat(CHROMIUM).then(() => true, () => false);
  assert.ok(
    isThere,
    `Cannot run the browser tests: there is no ${CHROMIUM}. Install it with ` +
      "apt-get install -y --no-install-recommends chromium, or name another one in CHROMIUM_PATH.",
  );
}

async function openReader(
  browser: Browser,
  { platform, served, width = 1280, scheme = "light" }: ReaderOptions & {
    readonly platform: Platform;
    readonly served: ServedConsole;
  },
): Promise<Reader> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    acceptDownloads: true,
  });
  const offences: string[] = [];
  await context.addInitScript({ content: REPORT_VIOLATIONS });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  const own = [new URL(served.url).origin, new URL(platform.stack.apiUrl).origin];
  page.on("console", (message) => {
    // The network's own words about 4xx answers are what some tests ask for.
    const isOffence = message.type() === "error" && !message.text().startsWith("Failed to load");
    if (isOffence) offences.push(message.text());
  });
  page.on("pageerror", (error) => offences.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && !own.includes(origin)) {
      offences.push(`foreign request: ${request.url()}`);
    }
  });
  const go = async (path: string) => void await page.goto(`${served.url}/#${path}`);
  return {
    page,
    offences,
    go,
    async signUp(name) {
      await go("/jobs");
      await page.getByRole("button", { name: "Create an account" }).click();
      await page.getByLabel("Email").fill(`${name}@example.test`);
      await page.getByLabel("Password").fill(crypto.randomUUID());
      await page.getByRole("button", { name: "Create the account" }).click();
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
    },
    async [Symbol.asyncDispose]() {
      await context.close();
    },
  };
}

/** Asserts that the page as it stands breaks no rule of WCAG 2.2 AA that axe can see. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const source = await loadAxeSource();
  // Run through the debugger, which the page's policy does not bind.
  const violations = await page.evaluate(
    `(async () => { ${source}; const { violations } = await axe.run(document, ` +
      `{ runOnly: { type: "tag", values: ${JSON.stringify(WCAG)} } }); ` +
      "return violations.map(({ id, nodes }) => id + ': ' + nodes.map((n) => n.html).join(' ')); })()",
  );
  assert.deepEqual(violations, [], what);
}

/** Asserts that nothing has to be scrolled sideways to be read. */
export async function assertFits(page: Page, what: string): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, innerWidth]",
  );
  assert.ok(content <= window, `${what} is ${content} px wide in a window of ${window}`);
}

/** Takes a picture where pictures are wanted. */
export async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}
