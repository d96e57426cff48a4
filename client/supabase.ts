import { SwarmClientError } from "./swarm_client_error.ts";
import { unlessAborted } from "./waiting.ts";

/** The parts of a `supabase-js` client (version 2) that this package uses. */
export interface SupabaseLike {
  readonly functions: { invoke(name: string, options?: object): PromiseLike<unknown> };
  readonly auth: { getSession(): PromiseLike<unknown> };
  readonly storage: { from(bucket: string): object };
  rpc(name: string, args?: object): object;
  from(table: string): object;
  schema(name: string): object;
  channel(topic: string, options?: object): object;
  getChannels(): readonly unknown[];
  readonly realtime: { disconnect(): unknown };
  // deno-lint-ignore no-explicit-any -- the type of a channel differs between versions
  removeChannel(channel: any): PromiseLike<unknown>;
}

/** Cancels a request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

interface FunctionOptions extends RequestOptions {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Answer {
  readonly data: unknown;
  readonly error: unknown;
  readonly status?: number;
}

interface RestRequest extends PromiseLike<Answer> {
  abortSignal(signal: AbortSignal): RestRequest;
}

/** A query of a table. */
export interface Query extends RestRequest {
  select(columns: string): Query;
  eq(column: string, value: unknown): Query;
  is(column: string, value: unknown): Query;
  or(filter: string): Query;
  in(column: string, values: readonly unknown[]): Query;
  order(column: string, options?: { readonly ascending: boolean }): Query;
  limit(count: number): Query;
}

interface Bucket {
  upload(path: string, body: unknown, options: object): PromiseLike<Answer>;
  download(path: string, options: object, request: RequestOptions): PromiseLike<Answer>;
}

/**
 * Calls an edge function as the client's user.
 *
 * @returns Its JSON, or the response for a stream of events.
 * @throws SwarmClientError
 */
export async function callFunction<Data>(
  supabase: SupabaseLike,
  path: string,
  { signal, ...options }: FunctionOptions = {},
): Promise<Data> {
  signal?.throwIfAborted();
  const { data, error } = await settle(
    () => supabase.functions.invoke(path, { ...options, ...signal && { signal } }),
    signal,
  );
  if (!error) return data as Data;
  signal?.throwIfAborted();
  const { context } = error as { context?: unknown };
  if (!(context instanceof Response)) throw unreachable(error);
  const body = await context.json().catch(() => null);
  signal?.throwIfAborted();
  const problem = body?.error;
  // The error of supabase-js holds the response, which Node would print in full.
  throw new SwarmClientError({
    code: problem?.code ?? `HTTP_${context.status}`,
    message: problem?.message ?? `The project answered ${context.status}`,
    hint: problem?.hint,
    details: problem === undefined ? body : problem.details,
    status: context.status,
    requestId: context.headers.get("x-request-id"),
  });
}

/** Calls a database function. @throws SwarmClientError */
export async function callRpc<Data>(
  supabase: SupabaseLike,
  name: string,
  args: object,
  { signal }: RequestOptions = {},
): Promise<Data> {
  return await send<Data>(() => supabase.rpc(name, args) as RestRequest, signal);
}

/** Reads rows of a table. @throws SwarmClientError */
export async function readRows<Row>(
  supabase: SupabaseLike,
  table: string,
  build: (query: Query) => Query,
  { signal }: RequestOptions = {},
): Promise<Row[]> {
  return await send<Row[]>(() => build(supabase.from(table) as Query), signal);
}

/** The id of the signed-in user, or null. */
export async function signedInUserId(supabase: SupabaseLike): Promise<string | null> {
  const answer = await supabase.auth.getSession() as {
    data: { session: { user: { id: string } } | null };
  };
  return answer.data.session?.user.id ?? null;
}

/** The id of the signed-in user. @throws SwarmClientError `UNAUTHORIZED` */
export async function userIdOf(supabase: SupabaseLike): Promise<string> {
  const id = await signedInUserId(supabase);
  if (id !== null) return id;
  throw new SwarmClientError({
    code: "UNAUTHORIZED",
    message: "Cannot upload the file: no user is signed in",
    hint: "Sign in with supabase.auth first.",
    status: 401,
  });
}

/**
 * Uses a bucket of Storage.
 *
 * @param forbiddenHint For a refusal by a policy, whose message never says why.
 * @throws SwarmClientError
 */
export async function useBucket<Data>(
  supabase: SupabaseLike,
  bucket: string,
  use: (bucket: Bucket) => PromiseLike<Answer>,
  { signal, forbiddenHint = null }: RequestOptions & { readonly forbiddenHint?: string | null } =
    {},
): Promise<Data> {
  signal?.throwIfAborted();
  const { data, error } = await settle(
    () => unlessAborted(use(supabase.storage.from(bucket) as Bucket), signal),
    signal,
  );
  if (!error) return data as Data;
  signal?.throwIfAborted();
  const { message, statusCode, status } = error as Record<string, unknown>;
  const httpStatus = Number(statusCode ?? status ?? 0) || 0;
  if (httpStatus === 0) throw unreachable(error);
  throw new SwarmClientError({
    code: `HTTP_${httpStatus}`,
    message: String(message),
    hint: httpStatus === 403 ? forbiddenHint : null,
    status: httpStatus,
  });
}

/** A code that the platform's database functions raise. */
const STABLE_CODE = /^[A-Z][A-Z0-9_]{2,}$/;
/** PostgREST's codes for a schema, a function or a table that it does not serve. */
const NOT_SERVED = new Set<unknown>(["PGRST106", "PGRST202", "PGRST205"]);
/** Postgres's code for a text that is not of the type that a function takes. */
const INVALID_TEXT = "22P02";
const SCHEMA_HINT = "Name the schema that supaswarm init printed, as in " +
  'createSwarm(supabase, { schema: "supaswarm" }), and expose it to the API.';

/** What to do about errors of PostgREST and Postgres, which do not say it. */
function hintOf(code: string | null | undefined): string | null {
  if (code === INVALID_TEXT) return "Pass an id as run() and lists return it, which is a UUID.";
  if (code === "PGRST202") return `Check that no argument is undefined. If none is: ${SCHEMA_HINT}`;
  return NOT_SERVED.has(code) ? SCHEMA_HINT : null;
}

async function send<Data>(build: () => RestRequest, signal?: AbortSignal): Promise<Data> {
  signal?.throwIfAborted();
  const { data, error, status = 0 } = await settle(() => {
    const request = build();
    return signal === undefined ? request : request.abortSignal(signal);
  }, signal);
  if (!error) return data as Data;
  signal?.throwIfAborted();
  if (status === 0) throw unreachable(error);
  const { message, code, details, hint, request_id: requestId } = error as Record<
    string,
    string | null | undefined
  >;
  const isStable = STABLE_CODE.test(details ?? "");
  if (!isStable && status === 401) {
    throw new SwarmClientError({
      code: "UNAUTHORIZED",
      message: `Cannot use the project: no user is signed in (${message})`,
      hint: "Sign in with supabase.auth first.",
      status,
      requestId: requestId ?? null,
    });
  }
  throw new SwarmClientError({
    code: (isStable ? details : code) || `HTTP_${status}`,
    message: message || `The project answered ${status}`,
    details: isStable ? null : details,
    hint: hintOf(code) ?? hint ?? null,
    status,
    // The body has it if the project's own fetch adds it; supabase-js drops the headers.
    requestId: requestId ?? null,
  });
}

async function settle(run: () => PromiseLike<unknown>, signal?: AbortSignal): Promise<Answer> {
  try {
    return await run() as Answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(error);
  }
}

function unreachable(cause: unknown): SwarmClientError {
  return new SwarmClientError({
    code: "UNREACHABLE",
    message: "Cannot reach the project",
    hint: "Check that it is running and that this device is online.",
    cause,
  });
}
