import type { OpenLogger as Logger } from "../shared/platform/log/logger.ts";
import type { StackDatabase } from "./database/database_port.ts";
import type { FunctionLog } from "./functions/function_log.ts";
import { createFunctionHost, type FunctionHost } from "./functions/function_host.ts";
import { startGateway } from "./gateway/gateway.ts";
import type { FunctionPort, RealtimePort } from "./gateway/gateway_ports.ts";
import type { StackKeys } from "./keys/keys.ts";
import { startRealtime } from "./realtime/realtime.ts";
import type { LocalCallers } from "./local_callers.ts";
import { functionEnvironment } from "./function_environment.ts";
import {
  type Environment,
  type FunctionLimits,
  readFunctionVariables,
} from "./stack_environment.ts";
import { readApiSchemas } from "./read_api_schemas.ts";
import type { StopSequence } from "./stop_sequence.ts";

interface EndpointsOptions {
  readonly database: StackDatabase;
  readonly keys: StackKeys;
  readonly port: number;
  readonly callers: LocalCallers;
  /** Folder of stored files. `null` keeps them only until the stack stops. */
  readonly dataDir: string | null;
  readonly projectRoot: string;
  readonly watch: boolean;
  /** Variables for functions, in addition to the platform's. */
  readonly functionSettings: Environment;
  readonly functionLimits: FunctionLimits;
  readonly log: Logger;
  readonly onLog: FunctionLog;
  readonly stops: StopSequence;
}

/** The running endpoints. */
export interface Endpoints {
  readonly apiUrl: string;
  readonly functions: FunctionHost;
  /** Starts what would otherwise start with the first request. Call it after the migrations. */
  warm(): Promise<void>;
}

/**
 * Starts the gateway, and behind it Realtime and the edge functions. The gateway starts first
 * because functions need its address. Requests wait until the part that they need has started.
 */
export async function startEndpoints(options: EndpointsOptions): Promise<Endpoints> {
  const { database, keys, stops, onLog, functionSettings: settings } = options;
  const functions = Promise.withResolvers<FunctionPort>();
  const realtime = Promise.withResolvers<RealtimePort>();
  const gateway = await startGateway({
    ...options,
    schemas: await readApiSchemas(options.projectRoot),
    functions: { fetch: async (name, request) => (await functions.promise).fetch(name, request) },
    realtime: { fetch: async (request) => (await realtime.promise).fetch(request) },
  });
  stops.add("gateway", () => gateway.stop());

  const realtimeServer = await startRealtime({
    database,
    verifyToken: (token) => keys.verifyUserToken(token),
    publishableKey: keys.publishableKey,
    secretKey: keys.secretKey,
    log: options.log,
  });
  stops.add("realtime", () => realtimeServer.stop());
  realtime.resolve(realtimeServer);

  const env = functionEnvironment({
    apiUrl: gateway.url,
    dbUrl: database.url,
    keys,
    settings: { ...await readFunctionVariables(options.projectRoot), ...settings },
  });
  const host = await createFunctionHost({
    projectRoot: options.projectRoot,
    env,
    ...options.functionLimits,
    watch: options.watch,
    onLog,
  });
  stops.add("functions", () => host.stop());
  functions.resolve(host);
  return { apiUrl: gateway.url, functions: host, warm: () => gateway.warm() };
}
