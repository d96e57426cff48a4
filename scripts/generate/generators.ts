import type { GeneratedFiles } from "./generated_files.ts";

/**
 * What `deno task generate` writes, in the order in which it is needed: error codes and schemas are
 * sources of the release, from which the types are made.
 */
export const GENERATORS: Readonly<Record<string, () => Promise<GeneratedFiles>>> = {
  errors: async () => await (await import("./errors.ts")).errorFiles(),
  schemas: async () => await (await import("./schemas.ts")).schemaFiles(),
  release: async () => await (await import("../release/first_release.ts")).releaseFiles(),
  "sql-functions": async () => await (await import("./sql_functions.ts")).sqlFunctionFiles(),
  types: async () => await (await import("./types.ts")).typeFiles(),
  env: async () => await (await import("./env.ts")).environmentFiles(),
  catalog: async () => await (await import("./catalog.ts")).catalogFiles(),
  "log-events": async () => await (await import("./log_events.ts")).logEventFiles(),
  costs: async () => await (await import("../../lab/hosted_costs/cost_files.ts")).costFiles(),
  registry: async () => await (await import("./registry.ts")).registryFiles(),
  locks: async () => await (await import("./locks.ts")).lockFiles(),
};
