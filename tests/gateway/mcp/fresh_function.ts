import { functionEnvironment } from "../../../stack/function_environment.ts";
import { type CreateApp, createTracedApp } from "../../../shared/app/app.ts";
import { readConfig } from "../../../shared/platform/config/env.ts";
import type { Platform } from "../../e2e/platform.ts";

/** A function that has answered nothing yet, on its own port. */
export interface FreshFunction extends AsyncDisposable {
  /** As clients write it; the path of the function follows. */
  readonly apiUrl: string;
  /** Promises that keep the isolate alive. */
  pendingCount(): number;
}

/** How the function starts. */
export interface FreshFunctionOptions {
  readonly name: string;
  readonly create: CreateApp;
  /** Settings of the product. @default none */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a function of the platform in this process, as in a new isolate. Only one runs at a time,
 * because the edge runtime is a global.
 */
export function startFreshFunction(
  { stack, keys }: Pick<Platform, "stack" | "keys">,
  { name, create, settings = {} }: FreshFunctionOptions,
): FreshFunction {
  let pendingCount = 0;
  Reflect.set(globalThis, "EdgeRuntime", {
    waitUntil(work: Promise<unknown>) {
      pendingCount++;
      const end = () => void pendingCount--;
      work.then(end, end);
    },
  });
  const { apiUrl, dbUrl } = stack;
  const environment = functionEnvironment({
    apiUrl,
    dbUrl,
    keys,
    settings: { SUPASWARM_ALLOW_LOOPBACK: "true", SUPASWARM_CPU_HARD_MS: "0", ...settings },
  });
  const app = createTracedApp(name, create, readConfig((key) => environment[key]), () => {});
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => app.fetch(request),
  );
  return {
    apiUrl: `http://127.0.0.1:${server.addr.port}`,
    pendingCount: () => pendingCount,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await app.close();
      Reflect.deleteProperty(globalThis, "EdgeRuntime");
    },
  };
}
