import { join } from "node:path";
import type { FunctionLogLine } from "../../stack/functions/function_log.ts";
import {
  createFunctionHost,
  type FunctionHost,
  type FunctionHostOptions,
} from "../../stack/functions/function_host.ts";

/** A project folder with edge functions and the host that runs them. */
export interface HostFixture extends AsyncDisposable {
  readonly host: FunctionHost;
  readonly logs: readonly FunctionLogLine[];
  readonly projectRoot: string;
  /** Calls the function `name`; `path` is appended. */
  get(name: string, path?: string, init?: RequestInit): Promise<Response>;
}

/**
 * Writes each function's code to a new project and starts a host for it, without a CPU limit:
 * otherwise the speed of the machine would decide which of two limits code reaches first.
 */
export async function startHost(
  functions: Readonly<Record<string, string>>,
  options: Partial<FunctionHostOptions> = {},
): Promise<HostFixture> {
  const projectRoot = await Deno.makeTempDir({ prefix: "supaswarm-host-test-" });
  await Deno.writeTextFile(join(projectRoot, "deno.json"), "{}");
  for (const [name, code] of Object.entries(functions)) {
    await writeFunction(projectRoot, name, code);
  }
  const logs: FunctionLogLine[] = [];
  const host = await createFunctionHost({
    projectRoot,
    env: {},
    watch: false,
    cpu: null,
    onLog: (line) => logs.push(line),
    ...options,
  });
  return {
    host,
    logs,
    projectRoot,
    get: (name, path = "", init = {}) =>
      host.fetch(name, new Request(`http://stack.test:54321/functions/v1/${name}${path}`, init)),
    async [Symbol.asyncDispose]() {
      await host.stop();
      await Deno.remove(projectRoot, { recursive: true });
    },
  };
}

/** Writes a function's `index.ts`. */
export async function writeFunction(
  projectRoot: string,
  name: string,
  code: string,
): Promise<void> {
  const folder = join(projectRoot, "supabase", "functions", name);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "index.ts"), code);
}
