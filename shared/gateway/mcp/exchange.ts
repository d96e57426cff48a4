import type { Logger } from "../../platform/log/logger.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { ToolGateway } from "../tool_contracts/tool_gateway.ts";
import type { McpMessage } from "./mcp_message.ts";
import type { ToolDirectory } from "./tool_directory.ts";

/** One message to the endpoint, its caller and its dependencies. */
export interface Exchange {
  /** Null for all servers, with prefixed names. */
  readonly server: string | null;
  readonly message: McpMessage;
  readonly caller: ToolCaller;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly directory: ToolDirectory;
  readonly gateway: ToolGateway;
  /** Keeps the instance alive until the work is recorded, even if the caller disconnected. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  readonly log: Logger;
}

/** The SDK, imported on first use. */
export type McpSdk = typeof import("../../vendor/mcp_server.js");
