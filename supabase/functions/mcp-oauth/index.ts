import { createMcpOAuthApp } from "../../../shared/app/mcp_oauth_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `POST {server}` begins to connect a user's own account, `DELETE {server}` disconnects it.
const log = createLogger("mcp-oauth");
surviveStrayErrors(log);
const app = createMcpOAuthApp(readConfig(), log);
Deno.serve((request) => app.fetch(request));
