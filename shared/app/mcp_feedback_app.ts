import type { Config } from "../platform/config/env.ts";
import { FUNCTION_NAMES } from "../platform/values/function_names.ts";
import { assertClientHasScope, SWARM_RUN } from "../platform/db/client_scope.ts";
import { feedbackRequest } from "../gateway/feedback/feedback_request.ts";
import { gradingUser } from "../gateway/feedback/grading_user.ts";
import { recordFeedback } from "../gateway/feedback/record_feedback.ts";
import { authenticate } from "../platform/http/authenticate.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { FORM_LIMITS } from "../platform/json/json_limits.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import type { App } from "./app.ts";

/** Composes `mcp-feedback`: grades one of the caller's own calls and returns the current grade. */
export function createMcpFeedbackApp(config: Config, log: Logger): App {
  const sql = openIsolatePool(config.databaseUrl, FUNCTION_NAMES.feedback);
  const ready = createReleaseCheck(sql, log);
  const gate = createRequestGate(config.cpu);
  const fetch = createHttpHandler({ methods: ["POST"], log, gate, ready }, async (request) => {
    const caller = await authenticate(request, config.apiKeys, ["user", "service"]);
    await assertClientHasScope(sql, caller, "grade the tool call", SWARM_RUN);
    const body = await parseBody(request, feedbackRequest, FORM_LIMITS);
    return Response.json(await recordFeedback(sql, body, gradingUser(body, caller)));
  });
  return { fetch, close: () => sql.end({ timeout: 1 }) };
}
