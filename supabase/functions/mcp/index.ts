import { createMcpApp } from "../../../shared/app/mcp_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `/mcp` and `/mcp/<server>`: the Model Context Protocol over Streamable HTTP.
serveApp("mcp", createMcpApp);
