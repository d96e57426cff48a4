import { loadSupabaseLite } from "../deps.ts";
import type { StackKeys } from "../keys/keys.ts";
import { openLiteConnection } from "./lite_connection.ts";
import type { LiteConnection } from "./lite_contract.ts";
import { quoteTextFilters } from "./text_filters.ts";

type Lite = Awaited<ReturnType<typeof loadSupabaseLite>>;
type LiteApp = InstanceType<Lite["App"]>;

/** How long connections may take to close. */
const CLOSE_SECONDS = 2;

/** The service's interface for object storage, which it does not export. */
export type StorageAdapter = NonNullable<LiteApp["_storageAdapter"]>;

/** Options of a service instance. */
export interface LiteOptions {
  readonly databaseUrl: string;
  /** Schemas that the REST API exposes; the first is the default. */
  readonly schemas: readonly string[];
  readonly keys: StackKeys;
  readonly storage: StorageAdapter;
  /** Receives the text of each mail of Auth. The stack delivers no mail. */
  readonly onMail: (text: string) => void;
}

/** One instance of the service, with the schema at the time it was opened. */
export interface LiteGeneration {
  fetch(request: Request): Promise<Response>;
  /** Waits for running requests, then closes the connections. */
  retire(): Promise<void>;
}

/**
 * Starts an instance and reads the schema.
 *
 * @throws Error when the database cannot be read.
 */
export async function openLiteGeneration(options: LiteOptions): Promise<LiteGeneration> {
  const connection = await openLiteConnection(options.databaseUrl);
  try {
    const app = await openApp(connection, options);
    const schema = await connection.introspect({ useCache: false });
    // The service returns an empty schema when it cannot read it. Auth's tables always exist.
    if (schema.tables.length === 0) throw new Error("Cannot read the schema of the database");
    return trackRequests(
      (request) => app.fetch(withUrl(request, quoteTextFilters(new URL(request.url), schema))),
      connection,
    );
  } catch (error) {
    await connection.driver.end({ timeout: CLOSE_SECONDS });
    throw error;
  }
}

async function openApp(connection: LiteConnection, options: LiteOptions): Promise<LiteApp> {
  const lite = await loadSupabaseLite();
  const { keys } = options;
  const app = new lite.App({
    connection,
    api: { schemas: [...options.schemas] },
    auth: {
      enabled: true,
      jwt_secret: keys.jwtSecret,
      publishable_key: keys.publishableKey,
      secret_key: keys.secretKey,
      email: { enable_confirmations: false },
    },
    storage: { enabled: true },
    studio: { enabled: false },
    options: {
      server: { disableStudio: true },
      drivers: { email: new lite.ConsoleEmailDriver({ logger: { info: options.onMail } }) },
    },
  });
  app._storageAdapter = options.storage;
  await app.init();
  // Set after init, which would print a warning.
  lite.setExperimental("storage", true);
  return app;
}

function withUrl(request: Request, url: URL): Request {
  return url.href === request.url ? request : new Request(url, request);
}

function trackRequests(
  answer: (request: Request) => Promise<Response>,
  connection: LiteConnection,
): LiteGeneration {
  let running = 0;
  let onIdle: (() => void) | null = null;
  return {
    fetch: async (request) => {
      running++;
      try {
        return await answer(request);
      } finally {
        if (--running === 0) onIdle?.();
      }
    },
    retire: async () => {
      if (running > 0) await new Promise<void>((resolve) => onIdle = resolve);
      await connection.driver.end({ timeout: CLOSE_SECONDS });
    },
  };
}
