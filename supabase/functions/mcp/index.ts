import { createMcpApp } from "../../../shared/app/mcp_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `/mcp` and `/mcp/<server>`: the Model Context Protocol over Streamable HTTP.
const log = createLogger("mcp");
surviveStrayErrors(log);
const app = createMcpApp(readConfig(), log);
Deno.serve((request) => app.fetch(request));
