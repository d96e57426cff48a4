import type { Logger } from "../log/logger.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { ToolGateway } from "../tool_contracts/tool_gateway.ts";
import type { McpMessage } from "./mcp_message.ts";
import type { ToolDirectory } from "./tool_directory.ts";

/** One message to the endpoint, by whom, and what it works with. */
export interface Exchange {
  /** Null: all servers, names prefixed. */
  readonly server: string | null;
  readonly message: McpMessage;
  readonly caller: ToolCaller;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly directory: ToolDirectory;
  readonly gateway: ToolGateway;
  /** Keeps the instance until the work is written down, also when the caller has gone. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  readonly log: Logger;
}

/** The SDK, imported when first needed. */
export type McpSdk = typeof import("../vendor/mcp_server.js");
