import { createMcpFeedbackApp } from "../../../shared/app/mcp_feedback_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `POST {feedback_token, rating?, rating_score?, comment?}` grades the answer of a tool call.
const log = createLogger("mcp-feedback");
surviveStrayErrors(log);
const app = createMcpFeedbackApp(readConfig(), log);
Deno.serve((request) => app.fetch(request));
