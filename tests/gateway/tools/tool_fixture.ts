import assert from "node:assert/strict";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { OpenLogger } from "../../../shared/platform/log/logger.ts";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import type { InternalServers } from "../../../shared/gateway/tool_contracts/internal_server.ts";
import { createToolGateway } from "../../../shared/gateway/tools/gateway.ts";
import type { AgentTool } from "../../../shared/gateway/tool_contracts/agent_tool.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import type {
  AnsweredCall,
  ToolCallRequest,
} from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { ToolGateway } from "../../../shared/gateway/tool_contracts/tool_gateway.ts";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import type { StackDatabase } from "../../../stack/database/database_port.ts";
import { openDatabase } from "../../../stack/open_database.ts";
import { TEST_DATABASE, type TestDatabase } from "../../../scripts/test/test_database.ts";

/** The fields of a registry row; the others have defaults. */
export interface ToolRow {
  readonly type: "internal" | "mcp_server" | "http_api" | "supabase_rpc";
  readonly config: JsonObject;
  readonly credential?: { readonly type: string | null; readonly name: string };
}

/** A database with the project's migrations, and its gateway. */
export interface ToolFixture extends AsyncDisposable {
  readonly sql: Sql;
  readonly gateway: ToolGateway;
  readonly logged: string[];
  createUser(): Promise<string>;
  storeSecret(value: string): Promise<string>;
  /** An agent with these tools; the caller acts for `userId`. */
  createCaller(userId: string | null, toolIds: readonly string[]): Promise<ToolCaller>;
  createTool(row: ToolRow): Promise<string>;
  /** Finds a tool of the caller's agent by its name on its server. */
  findTool(caller: ToolCaller, toolName: string): Promise<AgentTool>;
  stop(): Promise<void>;
}

/** How the gateway is configured. */
export interface ToolFixtureOptions {
  /** @default an address where nothing listens */
  readonly supabaseUrl?: string;
  /** @default true */
  readonly allowLoopback?: boolean;
  /** @default {@linkcode TEST_DATABASE} */
  readonly db?: TestDatabase;
  /** A database that the caller stops. @default the fixture's own */
  readonly database?: Pick<StackDatabase, "url">;
  /** @default the product's own */
  readonly internalServers?: InternalServers;
}

/** The project's key in these tests; no output may contain it. */
export const SECRET_KEY = "sb_secret_fixture_c4n4ry";

/** Opens a database with the project's migrations, which goes with its process. */
export async function openToolDatabase(
  db: TestDatabase = TEST_DATABASE,
  log: OpenLogger = () => {},
): Promise<StackDatabase> {
  return await openDatabase({
    db,
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    log,
  });
}

/** Opens a fixture, by default with its own database. */
export async function openToolFixture(options: ToolFixtureOptions = {}): Promise<ToolFixture> {
  const logged: string[] = [];
  const log: OpenLogger = (level, event, fields) => {
    logged.push(JSON.stringify({ level, event, ...fields }));
  };
  const { url, stopOwn } = await databaseOf(options, log);
  const sql = createSql(url, { maxConnections: 4, applicationName: "tool-tests" });
  const gateway = createToolGateway({
    sql,
    internalServers: options.internalServers ?? INTERNAL_SERVERS,
    log,
    secretKey: SECRET_KEY,
    supabaseUrl: options.supabaseUrl ?? "http://127.0.0.1:9",
    allowLoopback: options.allowLoopback ?? true,
  });
  const stop = async () => {
    await sql.end();
    await stopOwn();
  };
  return {
    sql,
    gateway,
    logged,
    createUser: () => createUser(sql),
    storeSecret: (value) => storeSecret(sql, value),
    createCaller: (userId, toolIds) => createCaller(sql, userId, toolIds),
    createTool: (row) => createTool(sql, row),
    findTool: (caller, toolName) => findTool(gateway, caller, toolName),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function databaseOf(
  { db, database }: ToolFixtureOptions,
  log: OpenLogger,
): Promise<{ readonly url: string; stopOwn(): Promise<void> }> {
  if (database !== undefined) return { url: database.url, stopOwn: () => Promise.resolve() };
  const own = await openToolDatabase(db, log);
  return { url: own.url, stopOwn: () => own.stop() };
}

/** A call with defaults for everything that most tests ignore. */
export function callOf(
  tool: Pick<AgentTool, "server" | "toolName">,
  caller: ToolCaller,
  args: JsonObject,
): ToolCallRequest {
  return {
    server: tool.server,
    toolName: tool.toolName,
    caller,
    arguments: args,
    attempt: 1,
    stepSeq: null,
    idempotencyKey: crypto.randomUUID(),
    traceparent: null,
  };
}

/** The answer of a call; fails if the call has no answer, such as one that asks for input. */
export async function answerOf(
  gateway: Pick<ToolGateway, "call">,
  request: ToolCallRequest,
): Promise<AnsweredCall> {
  const outcome = await gateway.call(request, noAbort());
  assert.ok(outcome.kind === "answered", outcome.kind);
  return outcome;
}

/** The holder of a secret key, without a user. */
export function nobody(): ToolCaller {
  return {
    userId: null,
    agentId: null,
    taskId: null,
    clientId: null,
    sessionId: null,
    clientName: null,
    isService: true,
  };
}

/** A signed-in user outside tasks, with the scopes of `mcp_grants`. */
export function userCaller(userId: string): ToolCaller {
  return { ...nobody(), userId, isService: false };
}

/** A signal that is never aborted. */
export function noAbort(): AbortSignal {
  return new AbortController().signal;
}

async function createUser(sql: Sql): Promise<string> {
  const id = crypto.randomUUID();
  await sql`insert into auth.users (id, email) values (${id}, ${`${id}@example.com`})`;
  return id;
}

async function storeSecret(sql: Sql, value: string): Promise<string> {
  const name = `secret_${crypto.randomUUID()}`;
  await sql`select vault.create_secret(${value}, ${name})`;
  return name;
}

async function createTool(sql: Sql, row: ToolRow): Promise<string> {
  const slug = `tool-${crypto.randomUUID().slice(0, 8)}`;
  const [created] = await sql<{ id: string }[]>`
    insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
    values (${slug}, ${slug}, ${row.type}, ${sql.json(row.config)},
      ${row.credential?.name ?? null}, ${row.credential?.type ?? null})
    returning id`;
  if (created === undefined) throw new Error("No tool was created");
  return created.id;
}

async function createCaller(
  sql: Sql,
  userId: string | null,
  toolIds: readonly string[],
): Promise<ToolCaller> {
  const agentId = crypto.randomUUID();
  await sql`
    insert into public.agents (id, name, slug, system_prompt)
    values (${agentId}, ${agentId}, ${agentId}, 'Help.')`;
  for (const toolId of toolIds) {
    await sql`insert into public.agent_tools (agent_id, tool_id) values (${agentId}, ${toolId})`;
  }
  return { ...nobody(), userId, agentId };
}

async function findTool(
  gateway: ToolGateway,
  caller: ToolCaller,
  toolName: string,
): Promise<AgentTool> {
  const { tools, unavailable } = await gateway.listAgentTools(caller, noAbort());
  const tool = tools.find((candidate) => candidate.toolName === toolName);
  if (tool === undefined) throw new Error(`No ${toolName}; ${JSON.stringify(unavailable)}`);
  return tool;
}
