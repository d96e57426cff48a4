import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { Project } from "../../scripts/demo/user_client.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { ensureKeys, type StackKeys } from "../../stack/keys/keys.ts";
import { type LocalPlatform, startPlatform } from "../../scripts/platform/start_platform.ts";
import { hostedCpuLimits } from "./hosted_cpu_limits.ts";
import { TEST_DATABASE, type TestDatabase } from "../../scripts/test/test_database.ts";

/** A complete platform in this process, and the operator's connection to its database. */
export interface Platform extends AsyncDisposable {
  readonly stack: LocalPlatform;
  /** Sign tokens of users, as the platform's Auth does. */
  readonly keys: StackKeys;
  /** As role `postgres`. */
  readonly sql: Sql;
  /** The values for clients. */
  readonly project: Project;
  /** Everything that was logged, as JSON. */
  readonly logLines: readonly string[];
}

/** How a platform boots. */
export interface PlatformOptions {
  /**
   * Product settings. Settings of the machine or of an `.env` file are ignored.
   * @default the CPU limits of {@linkcode hostedCpuLimits}, and {@linkcode LONG_LIMITS}
   */
  readonly env?: Readonly<Record<string, string>>;
  /** @default this checkout */
  readonly projectRoot?: string;
  /** @default {@linkcode TEST_DATABASE} */
  readonly db?: TestDatabase;
  /** The folder that the seeded agents may read. @default they get no file tool */
  readonly filesFolder?: string;
}

/**
 * Limits in seconds that no test reaches because the machine is slow or busy: models answer when a
 * test lets them, and workers may get no processor for a while.
 */
const LONG_LIMITS = {
  SUPASWARM_MODEL_TIMEOUT_SECONDS: "600",
  SUPASWARM_LEASE_SECONDS: "60",
};

/** Boots an ephemeral platform on any free port. */
export async function bootPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { env = {}, projectRoot = PROJECT_ROOT, db = TEST_DATABASE, filesFolder } = options;
  const logLines: string[] = [];
  const keys = await ensureKeys(null);
  const { softMs, hardMs } = hostedCpuLimits();
  const stack = await startPlatform({
    db,
    port: 0,
    dataDir: null,
    keys,
    projectRoot,
    watch: false,
    env: {
      ...LONG_LIMITS,
      SUPASWARM_CPU_SOFT_MS: String(softMs),
      SUPASWARM_CPU_HARD_MS: String(hardMs),
      ...env,
    },
    ...filesFolder === undefined ? {} : { filesFolder },
    onLog: (line) => logLines.push(JSON.stringify(line)),
  });
  const sql = createSql(stack.dbUrl, { maxConnections: 2, applicationName: "e2e" });
  return {
    stack,
    keys,
    sql,
    project: { apiUrl: stack.apiUrl, publishableKey: stack.publishableKey },
    logLines,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await stack.stop();
    },
  };
}
