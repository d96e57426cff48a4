import { fileURLToPath } from "node:url";
import { buildStaleConsole } from "../../../scripts/console/build_console.ts";
import { launchChromium } from "../../../scripts/console/launch_chromium.ts";
import { serveConsole } from "../../../scripts/console/serve_console.ts";
import { sessionKey } from "../../../scripts/console/session_key.ts";
import type { DemoUser, Project } from "../../../scripts/demo/user_client.ts";
import { type Page, readSupabaseJsScript } from "../../../scripts/deps.ts";

const PROBE = fileURLToPath(new URL("page_probe.js", import.meta.url));
const LISTENER = fileURLToPath(new URL("bare_listener.js", import.meta.url));
const STEP_LIMIT_MS = 60_000;

/** Frames and long tasks of a measured period. */
export interface Frames {
  readonly frame_ms: readonly number[];
  /** Tasks of more than 50 ms. */
  readonly long_task_ms: readonly number[];
}

/** Times of an opened job. */
export interface Opening {
  /** Time from the response with the first steps to the frame that shows some. */
  readonly first_rows_ms: number;
  /** Time from the click to the frame with all steps. */
  readonly all_rows_ms: number;
}

/** Interface of `page_probe.js` in the console's page. */
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

/** Interface of `bare_listener.js` in a page that has only `supabase-js`. */
export interface BareListener {
  follow(jobId: string): Promise<void>;
  /** Times of the callback for the end of each step, in Unix milliseconds, by its number. */
  endsHeard(): Promise<Readonly<Record<string, number>>>;
}

/** The console of a signed-in user and a plain listener in the same browser. */
export interface BenchPages extends AsyncDisposable {
  readonly page: Page;
  readonly probe: ConsoleProbe;
  readonly listener: BareListener;
  readonly browserVersion: string;
  /** Processor time of the console's main thread, in seconds. */
  mainThreadSeconds(): Promise<number>;
}

/** Builds and serves the console, and opens both pages. @throws Error when there is no Chromium. */
export async function openPages(project: Project, { client }: DemoUser): Promise<BenchPages> {
  const { data: { session } } = await client.auth.getSession();
  if (session === null) throw new Error("Cannot open the console: the user has no session");
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
  // Same origin as the console, so that it runs with the same policy.
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

/** Returns a proxy of an object in a page. Its methods take and return JSON. */
function callsOf<Methods extends object>(page: Page, name: string): Methods {
  return new Proxy({} as Methods, {
    get: (_, method) => (...args: readonly unknown[]) => {
      const list = args.map((arg) => JSON.stringify(arg)).join(", ");
      return page.evaluate(`${name}.${String(method)}(${list})`);
    },
  });
}
