import { createMcpOAuthApp } from "../../../shared/app/mcp_oauth_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST {server}` starts connecting a user's own account, `DELETE {server}` disconnects it.
serveApp("mcp-oauth", createMcpOAuthApp);
