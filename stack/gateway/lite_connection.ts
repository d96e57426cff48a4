import { loadKysely, loadSupabaseLitePostgres } from "../deps.ts";
import type { LiteConnection } from "./lite_contract.ts";
import { withPostgrestStatus } from "./postgrest_errors.ts";
import { currentHeaders } from "./request_headers.ts";
import { adaptRestPlan } from "./rest_plan.ts";
import { allowStorageDeletes } from "./storage_deletes.ts";
import { keepToOneKeys } from "./to_one_keys.ts";

type Kysely = Awaited<ReturnType<typeof loadKysely>>;

/** What the service passes to its connection for a request. */
interface RequestVars {
  readonly auth?: { readonly uid?: unknown; readonly role?: string; readonly jwt?: unknown };
  readonly storage?: { readonly operation?: string | null };
}

const MAX_CONNECTIONS = 8;
const RECONNECT_SECONDS = 0.2;

/** PostgreSQL's type ids. */
const TYPE_ID = {
  bytea: 17,
  json: 114,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const;

/**
 * Opens the connection of the REST, Auth and Storage service and makes it behave like a hosted
 * project: it grants nothing, and uses PostgREST's HTTP statuses, relationships and JSON values.
 *
 * @param url Connection string of a role that can switch to any other (the platform's superuser).
 */
export async function openLiteConnection(url: string): Promise<LiteConnection> {
  const [{ createPostgresConnection }, kysely] = await Promise.all([
    loadSupabaseLitePostgres(),
    loadKysely(),
  ]);
  const connection = createPostgresConnection({
    url,
    postgresOptions: {
      max: MAX_CONNECTIONS,
      backoff: () => RECONNECT_SECONDS,
      onnotice: () => {},
      connection: { application_name: "supaswarm gateway" },
      types: restValueTypes(),
    },
  });
  allowStorageDeletes(connection.driver);
  const normalizeDbError = connection.normalizeDbError.bind(connection);
  const onPostgrestAST = connection.onPostgrestAST.bind(connection);
  const introspect = connection.introspect.bind(connection);
  Object.assign(connection, {
    // With "unknown", the first request would grant all rights on every schema to every API role.
    rlsState: "active",
    applyJwtSessionContext: sessionContextSetter(kysely),
    onPostgrestAST: async (...request: Parameters<typeof onPostgrestAST>) =>
      adaptRestPlan(
        await onPostgrestAST(...request),
        await connection.introspect({ useCache: true }),
      ),
    introspect: async (...options: Parameters<typeof introspect>) =>
      keepToOneKeys(await introspect(...options)),
    normalizeDbError: (error: unknown) => withPostgrestStatus(normalizeDbError(error)),
  });
  return connection;
}

/** Sets role, claims and search path in one round trip. The service itself needs six. */
function sessionContextSetter({ CompiledQuery }: Kysely) {
  return async (
    db: { executeQuery(query: ReturnType<Kysely["CompiledQuery"]["raw"]>): Promise<unknown> },
    vars: RequestVars,
  ): Promise<void> => {
    const role = vars.auth?.role ?? "anon";
    const claims = vars.auth?.jwt ?? { role };
    await db.executeQuery(CompiledQuery.raw(
      `select set_config('role', $1, true),
              set_config('request.jwt.claims', $2, true),
              set_config('request.jwt.claim.sub', $3, true),
              set_config('request.jwt.claim.role', $1, true),
              set_config('storage.operation', $4, true),
              set_config('request.headers', $5, true),
              set_config('search_path', 'public, extensions', true)`,
      [
        role,
        JSON.stringify(claims),
        String(vars.auth?.uid ?? ""),
        vars.storage?.operation ?? "",
        currentHeaders(),
      ],
    ));
  };
}

/** Returns type parsers that write values to JSON responses like PostgREST. */
function restValueTypes() {
  return {
    json: restType(TYPE_ID.json, JSON.parse, toJsonText),
    jsonb: restType(TYPE_ID.jsonb, JSON.parse, toJsonText),
    timestamptz: restType(TYPE_ID.timestamptz, toIsoTime),
    timestamp: restType(TYPE_ID.timestamp, toIsoTime),
    numeric: restType(
      TYPE_ID.numeric,
      (text) => Number.isFinite(Number(text)) ? Number(text) : text,
    ),
    bytea: restType(TYPE_ID.bytea, (text) => text),
  };
}

function restType(
  id: number,
  parse: (text: string) => unknown,
  serialize: (value: unknown) => string = String,
) {
  return { to: id, from: [id], serialize, parse };
}

/** A string is already JSON text, because strings of requests are boxed (`json_values.ts`). */
function toJsonText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `2026-01-31 10:00:00+00` → `2026-01-31T10:00:00+00:00`. */
function toIsoTime(text: string): string {
  return text.replace(/^(\d{4,}-\d\d-\d\d) /, "$1T").replace(/(T.*[+-]\d\d)$/, "$1:00");
}
