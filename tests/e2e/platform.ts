import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import type { Project } from "../../scripts/demo/user_client.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { type LocalPlatform, startPlatform } from "../../scripts/platform/start_platform.ts";

/** A complete platform in this process, and the operator's connection to its database. */
export interface Platform extends AsyncDisposable {
  readonly stack: LocalPlatform;
  /** As role `postgres`. */
  readonly sql: Sql;
  /** The values for clients. */
  readonly project: Project;
  /** Everything that was logged, as JSON. */
  readonly logLines: readonly string[];
}

/** How a platform boots. */
export interface PlatformOptions {
  /** Product settings. Settings of the machine or of an `.env` file are ignored. */
  readonly env?: Readonly<Record<string, string>>;
  /** @default this checkout */
  readonly projectRoot?: string;
  /** @default "pglite" */
  readonly db?: "pglite" | "native";
  /** Where keys and data are stored, for tests that need the keys. @default a temporary folder */
  readonly dataDir?: string;
  /** The folder that the seeded agents may read. @default they get no file tool */
  readonly filesFolder?: string;
}

/** Boots a platform on any free port; it is ephemeral unless it gets a folder. */
export async function bootPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { env = {}, projectRoot = PROJECT_ROOT, db = "pglite", dataDir = "", filesFolder } =
    options;
  const logLines: string[] = [];
  const stack = await startPlatform({
    db,
    port: 0,
    ephemeral: dataDir === "",
    dataDir,
    projectRoot,
    watch: false,
    env,
    ...filesFolder === undefined ? {} : { filesFolder },
    onLog: (line) => logLines.push(JSON.stringify(line)),
  });
  const sql = createSql(stack.dbUrl, { maxConnections: 2, applicationName: "e2e" });
  return {
    stack,
    sql,
    project: { apiUrl: stack.apiUrl, publishableKey: stack.publishableKey },
    logLines,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await stack.stop();
    },
  };
}
