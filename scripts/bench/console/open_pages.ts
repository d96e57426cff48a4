import { fileURLToPath } from "node:url";
import { buildStaleConsole } from "../../console/build_console.ts";
import { launchChromium } from "../../console/launch_chromium.ts";
import { serveConsole } from "../../console/serve_console.ts";
import { sessionKey } from "../../console/session_key.ts";
import type { DemoUser, Project } from "../../demo/user_client.ts";
import { type Page, readSupabaseJsScript } from "../../deps.ts";

const PROBE = fileURLToPath(new URL("page_probe.js", import.meta.url));
const LISTENER = fileURLToPath(new URL("bare_listener.js", import.meta.url));
const STEP_LIMIT_MS = 60_000;

/** Frames and long tasks of a time that was watched. */
export interface Frames {
  readonly frame_ms: readonly number[];
  /** Those of more than 50 ms. */
  readonly long_task_ms: readonly number[];
}

/** When what was on the screen of a job that was opened. */
export interface Opening {
  /** From the answer with the first steps to the frame that shows some. */
  readonly first_rows_ms: number;
  /** From the reader's click to the frame with all of them. */
  readonly all_rows_ms: number;
}

/** What `page_probe.js` does in the console's page. */
export interface ConsoleProbe {
  openJob(jobId: string, rowCount: number): Promise<Opening>;
  scrollThrough(frameCount: number): Promise<Frames & { readonly nodes: number }>;
  scrollToEnd(): Promise<void>;
  watchFrames(): Promise<void>;
  endFrames(): Promise<Frames>;
  openRows(): Promise<number>;
  watchEnds(): Promise<void>;
  /** Unix time in milliseconds, by the id of the row. */
  endsSeen(): Promise<Readonly<Record<string, number>>>;
}

/** What `bare_listener.js` does in a page that has nothing but `supabase-js`. */
export interface BareListener {
  follow(jobId: string): Promise<void>;
  /** When the callback ran for the end of each step, in Unix milliseconds, by its number. */
  endsHeard(): Promise<Readonly<Record<string, number>>>;
}

/** The console of a signed-in user and, beside it in the same browser, a bare listener. */
export interface BenchPages extends AsyncDisposable {
  readonly page: Page;
  readonly probe: ConsoleProbe;
  readonly listener: BareListener;
  readonly browserVersion: string;
  /** Processor time that the console's main thread has had, in seconds. */
  mainThreadSeconds(): Promise<number>;
}

/** Builds and serves the console, and opens both pages. @throws Error when there is no Chromium. */
export async function openPages(project: Project, { client }: DemoUser): Promise<BenchPages> {
  const { data: { session } } = await client.auth.getSession();
  if (session === null) throw new Error("The user has no session");
  await buildStaleConsole();
  await using stack = new AsyncDisposableStack();
  const served = serveConsole({
    ...project,
    port: 0,
    buildsAtOnce: false,
    onBuildFailure: (error) => {
      throw error;
    },
  });
  stack.defer(() => served.stop());
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(STEP_LIMIT_MS);

  const bare = await context.newPage();
  // Of the console's origin, so that it runs under the same policy.
  await bare.goto(`${served.url}/config.json`);
  await bare.evaluate(
    ([key, value]) => localStorage.setItem(key, value),
    [sessionKey(project), JSON.stringify(session)] as const,
  );
  await bare.evaluate(await readSupabaseJsScript());
  await bare.evaluate(await Deno.readTextFile(LISTENER));
  await bare.evaluate(
    `listener.open(${JSON.stringify({ ...project, accessToken: session.access_token })})`,
  );

  const page = await context.newPage();
  await page.addInitScript({ path: PROBE });
  await page.goto(`${served.url}/#/jobs`);
  await page.locator("[data-job]").first().waitFor();
  const debugging = await context.newCDPSession(page);
  await debugging.send("Performance.enable", { timeDomain: "threadTicks" });
  const opened = stack.move();
  return {
    page,
    probe: callsOf<ConsoleProbe>(page, "probe"),
    listener: callsOf<BareListener>(bare, "listener"),
    browserVersion: browser.version(),
    async mainThreadSeconds() {
      const { metrics } = await debugging.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** An object of a page, whose methods are called with JSON. */
function callsOf<Methods extends object>(page: Page, name: string): Methods {
  return new Proxy({} as Methods, {
    get: (_, method) => (...args: readonly unknown[]) => {
      const list = args.map((arg) => JSON.stringify(arg)).join(", ");
      return page.evaluate(`${name}.${String(method)}(${list})`);
    },
  });
}
