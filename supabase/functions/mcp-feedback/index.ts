import { createMcpFeedbackApp } from "../../../shared/app/mcp_feedback_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST {feedback_token, rating?, rating_score?, comment?}` grades the result of a tool call.
serveApp("mcp-feedback", createMcpFeedbackApp);
