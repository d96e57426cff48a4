import { createMcpExecuteApp } from "../../../shared/app/mcp_execute_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `GET` lists tool servers and their tools; `POST {server, tool_name, parameters, …}` calls a tool.
const log = createLogger("mcp-execute");
surviveStrayErrors(log);
const app = createMcpExecuteApp(readConfig(), log);
Deno.serve((request) => app.fetch(request));
