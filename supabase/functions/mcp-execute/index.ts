import { createMcpExecuteApp } from "../../../shared/app/mcp_execute_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `GET` lists tool servers and their tools; `POST {server, tool_name, parameters, …}` calls a tool.
serveApp("mcp-execute", createMcpExecuteApp);
