import { extname, join, normalize } from "node:path";
import { buildStaleConsole, CONSOLE_DIST, isConsoleStale } from "./build_console.ts";
import { type LocalCallers, serveLocally } from "../../stack/local_callers.ts";
import { CHOSEN_NAMES } from "./chosen_names.ts";
import { CONSOLE_HEADERS, contentSecurityPolicy } from "./content_security_policy.ts";

interface ConsoleOptions {
  /** Port on 127.0.0.1. 0 takes any free port. */
  readonly port: number;
  /** @default only loopback */
  readonly callers?: LocalCallers;
  readonly apiUrl: string;
  readonly publishableKey: string;
  /** Build a stale console immediately. Otherwise the first request builds it. */
  readonly buildsAtOnce: boolean;
  readonly onBuildFailure: (error: Error) => void;
}

/** How the console is built. */
export interface ConsoleBuilder {
  isStale(): Promise<boolean>;
  build(signal: AbortSignal): Promise<void>;
}

/** A running console server. */
export interface ServedConsole {
  readonly url: string;
  stop(): Promise<void>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

/**
 * Serves the built console on loopback. It has a separate origin, so that a script in an agent's
 * file, which comes from the API's origin, cannot run in the console's origin.
 *
 * @throws Deno.errors.AddrInUse when the port is in use.
 */
export function serveConsole(
  options: ConsoleOptions,
  builder: ConsoleBuilder = { isStale: isConsoleStale, build: buildStaleConsole },
): ServedConsole {
  const policy = contentSecurityPolicy(options.apiUrl, { as: "header" });
  const config = JSON.stringify({
    api_url: options.apiUrl,
    publishable_key: options.publishableKey,
    ...CHOSEN_NAMES,
  });
  const stopping = new AbortController();
  const build = buildOnce(builder, options.onBuildFailure, stopping.signal);
  if (options.buildsAtOnce) void build.ensure();

  const local = { ...options, compresses: true, signal: stopping.signal };
  const server = serveLocally(local, async (request) => {
    const answer = await answerTo(request);
    answer.headers.set("content-security-policy", policy);
    for (const [name, value] of Object.entries(CONSOLE_HEADERS)) answer.headers.set(name, value);
    return answer;
  });

  async function answerTo(request: Request): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Only GET is supported", { status: 405 });
    }
    const path = new URL(request.url).pathname;
    if (path === "/config.json") {
      return new Response(config, {
        headers: { "content-type": "application/json", "cache-control": "no-store" },
      });
    }
    if (path === "/wait.js") {
      return new Response(WAIT_SCRIPT, { headers: { "content-type": "text/javascript" } });
    }
    const state = await build.state();
    if (state.kind === "building") return waitPage("Building the console …");
    if (state.kind === "failed") return waitPage(state.message, 500);
    return await fileAnswer(path === "/" ? "/index.html" : path);
  }

  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    async stop() {
      // Not `shutdown()`, which would wait for open connections.
      stopping.abort();
      await server.finished;
    },
  };
}

type BuildState =
  | { readonly kind: "built" | "building" }
  | { readonly kind: "failed"; readonly message: string };

/** Builds once, if a source has changed since the last build, until `signal` aborts. */
function buildOnce(
  builder: ConsoleBuilder,
  onFailure: (error: Error) => void,
  signal: AbortSignal,
) {
  let state: BuildState = { kind: "built" };
  let checked: Promise<void> | undefined;

  async function build(): Promise<void> {
    state = { kind: "building" };
    try {
      await builder.build(signal);
      state = { kind: "built" };
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof Error ? error : new Error(String(error));
      state = { kind: "failed", message: failure.message };
      onFailure(failure);
    }
  }

  /** Resolves when it is known whether a build is needed. */
  const ensure = () =>
    checked ??= builder.isStale().then((isStale) => {
      if (isStale) void build();
    });
  return {
    ensure,
    async state(): Promise<BuildState> {
      await ensure();
      return state;
    },
  };
}

/** Reloads the page and keeps the fragment, which selects the view. */
const WAIT_SCRIPT = "setTimeout(() => location.reload(), 2_000);";

/** Returns a page that reloads itself until the console is built. */
function waitPage(message: string, status = 503): Response {
  const text = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const page = `<!doctype html><html lang="en"><meta charset="utf-8">` +
    `<meta name="color-scheme" content="light dark"><script src="/wait.js"></script>` +
    `<title>SupaSwarm</title><pre>${text}</pre>`;
  return new Response(page, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", "retry-after": "2" },
  });
}

async function fileAnswer(path: string): Promise<Response> {
  const file = filePath(path);
  if (file === null) return notFound();
  try {
    const body = await Deno.readFile(join(CONSOLE_DIST, file));
    return new Response(body, {
      headers: {
        "content-type": CONTENT_TYPES[extname(file)] ?? "application/octet-stream",
        // Assets can be cached because their names change with their content.
        "cache-control": file.startsWith("/assets/")
          ? "public, max-age=31536000, immutable"
          : "no-cache",
      },
    });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) {
      return notFound();
    }
    throw error;
  }
}

/** Returns the path relative to the built files; null for an invalid one, such as `/%E0`. */
function filePath(path: string): string | null {
  try {
    const file = normalize(decodeURIComponent(path));
    return file.startsWith("/") && !file.includes("\0") ? file : null;
  } catch {
    return null;
  }
}

function notFound(): Response {
  return new Response("File not found", { status: 404 });
}
