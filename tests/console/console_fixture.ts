import assert from "node:assert/strict";
import { join } from "node:path";
import { type Browser, loadAxeSource, loadSupabaseJs, type Page } from "../deps.ts";
import { buildStaleConsole } from "../../scripts/console/build_console.ts";
import { launchChromium } from "../../scripts/console/launch_chromium.ts";
import { serveConsole, type ServedConsole } from "../../scripts/console/serve_console.ts";
import { sessionKey } from "../../scripts/console/session_key.ts";
import type { Project } from "../../scripts/demo/user_client.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";

declare global {
  /** What tests use of a page's elements; the types of React declare elements without members. */
  interface Element {
    readonly id: string;
    matches(selector: string): boolean;
  }
}

/** A folder for screenshots; without one none are taken. */
const SCREENSHOTS = Deno.env.get("CONSOLE_SCREENSHOTS");
const STEP_LIMIT_MS = 60_000;
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Runs in the page before its own scripts. */
const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy violation: " + event.violatedDirective + " " + event.blockedURI));`;

/** The platform, its console, and a browser. */
export interface ConsoleFixture extends AsyncDisposable {
  readonly platform: Platform;
  readonly console: ServedConsole;
  readonly browser: Browser;
  /** A reader with a separate browser context. */
  open(options?: ReaderOptions): Promise<Reader>;
}

/** How a reader opens the console. */
export interface ReaderOptions {
  /** @default 1280 */
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  readonly reducedMotion?: "reduce" | "no-preference";
  /** Origins that the page may also call and open. @default none */
  readonly origins?: readonly string[];
}

/** A served console, and the project that it shows. */
export interface ConsoleAddress {
  readonly consoleUrl: string;
  readonly project: Project;
}

/** A user with a browser window. */
export interface Reader extends AsyncDisposable {
  readonly page: Page;
  /** Violations by the page: of the policy, dialogs, errors, foreign requests. */
  readonly offences: readonly string[];
  /** Signs up over the API, and returns the user's id. */
  signUp(name: string): Promise<string>;
  signUpByForm(name: string): Promise<void>;
  /** Goes to a path of the console, such as `/jobs`. */
  go(path: string): Promise<void>;
}

/** Boots everything. @throws Error that names what to install if Chromium is missing. */
export async function openConsoleFixture(): Promise<ConsoleFixture> {
  const browser = await launchChromium();
  await buildStaleConsole();
  const platform = await bootPlatform();
  const served = serveTestConsole(platform.project);
  return {
    platform,
    console: served,
    browser,
    open: (options) =>
      openReader(browser, { consoleUrl: served.url, project: platform.project, ...options }),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await served.stop();
      await platform[Symbol.asyncDispose]();
    },
  };
}

/** Serves the console of a project on any free port. */
export function serveTestConsole(project: Project): ServedConsole {
  return serveConsole({
    ...project,
    port: 0,
    buildsAtOnce: false,
    onBuildFailure: (error) => assert.fail(error),
  });
}

/** Opens a window on a console. */
export async function openReader(
  browser: Browser,
  { consoleUrl, project, ...options }: ConsoleAddress & ReaderOptions,
): Promise<Reader> {
  const { width = 1280, scheme = "light", reducedMotion = "no-preference", origins = [] } = options;
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    reducedMotion,
    acceptDownloads: true,
  });
  const offences: string[] = [];
  await context.addInitScript({ content: REPORT_VIOLATIONS });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  watchPage(page, offences, [
    new URL(consoleUrl).origin,
    new URL(project.apiUrl).origin,
    ...origins,
  ]);
  context.on("page", (opened) => offences.push(`window: ${opened.url()}`));
  const go = async (path: string) => void await page.goto(`${consoleUrl}/#${path}`);
  return {
    page,
    offences,
    go,
    async signUp(name) {
      const session = await createSession(project, name);
      await page.goto(`${consoleUrl}/config.json`);
      await page.evaluate(
        ([key, value]) => localStorage.setItem(key, value),
        [sessionKey(project), JSON.stringify(session)] as const,
      );
      return session.user.id;
    },
    async signUpByForm(name) {
      await go("/jobs");
      await page.getByRole("button", { name: "Create an account" }).click();
      await page.getByLabel("Email").fill(`${name}@example.test`);
      await page.getByLabel("Password").fill(crypto.randomUUID());
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
    },
    async [Symbol.asyncDispose]() {
      await context.close();
    },
  };
}

/** Records everything that a page must not do, whatever content it shows. */
function watchPage(page: Page, offences: string[], allowed: readonly string[]): void {
  const isForeign = (url: string) => {
    const { origin, protocol } = new URL(url);
    return protocol.startsWith("http") && !allowed.includes(origin);
  };
  page.on("console", (message) => {
    // Some tests cause the browser's own messages about 4xx answers.
    const isOffence = message.type() === "error" && !message.text().startsWith("Failed to load");
    if (isOffence) offences.push(message.text());
  });
  page.on("pageerror", (error) => offences.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (isForeign(request.url())) offences.push(`foreign request: ${request.url()}`);
  });
  page.on("framenavigated", (frame) => {
    const isOther = frame !== page.mainFrame() || isForeign(frame.url());
    if (isOther) offences.push(`navigation: ${frame.url()}`);
  });
}

async function createSession(project: Project, name: string) {
  const { createClient } = await loadSupabaseJs();
  const { auth } = createClient(project.apiUrl, project.publishableKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
  const { data, error } = await auth.signUp({
    email: `${name}@example.test`,
    password: crypto.randomUUID(),
  });
  if (error !== null) throw error;
  assert.ok(data.session, "signing up returns a session");
  return data.session;
}

/**
 * Asserts that axe finds no violation of WCAG 2.2 AA in the current page.
 *
 * @param rules Names of the only rules to check. @default all
 */
export async function assertAccessible(
  page: Page,
  what: string,
  rules?: readonly string[],
): Promise<void> {
  const runOnly = rules === undefined
    ? { type: "tag", values: WCAG }
    : { type: "rule", values: rules };
  // Both run through the debugger, to which the page's policy does not apply.
  if (!await page.evaluate("'axe' in window")) await page.evaluate(await loadAxeSource());
  const violations = await page.evaluate(
    // Describing the elements without a violation would take most of the time.
    `axe.run(document, ${
      JSON.stringify({ runOnly, resultTypes: ["violations"], selectors: false })
    })` +
      ".then(({ violations }) => violations" +
      ".map(({ id, nodes }) => id + ': ' + nodes.map((n) => n.html).join(' ')))",
  );
  assert.deepEqual(violations, [], what);
}

/** Frames without a request in flight after which a page is complete. */
const QUIET_FRAMES = 3;

/**
 * Returns a function that waits until a page has shown its data. Playwright's own wait takes half a
 * second longer.
 */
export function createIdleWait(page: Page): () => Promise<void> {
  const underWay = new Set<unknown>();
  page.on("request", (request) => underWay.add(request));
  page.on("requestfinished", (request) => underWay.delete(request));
  page.on("requestfailed", (request) => underWay.delete(request));
  return async () => {
    for (let quiet = 0; quiet < QUIET_FRAMES; quiet = underWay.size === 0 ? quiet + 1 : 0) {
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
    }
  };
}

/** Asserts that nothing requires horizontal scrolling. */
export async function assertFits(page: Page, what: string): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, innerWidth]",
  );
  assert.ok(content <= window, `${what} is ${content} px wide in a window of ${window}`);
}

/** Takes a screenshot if they are enabled. */
export async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Takes screenshots of a page in three widths and both schemes if they are enabled. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  const before = page.viewportSize();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await picture(page, `${name}_${width}_${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference" });
  if (before !== null) await page.setViewportSize(before);
}
