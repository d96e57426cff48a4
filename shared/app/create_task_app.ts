import type { Config } from "../platform/config/env.ts";
import { createAgentDirectory } from "../platform/db/agent_directory.ts";
import { authenticate } from "../platform/http/authenticate.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { traceparentOf, tracestateOf } from "../platform/http/trace_context.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createTask } from "../engine/tasks/create_task.ts";
import { createTaskRequest } from "../engine/tasks/create_task_request.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import type { App } from "./app.ts";
import { createProjectAnnouncer } from "./announce_project.ts";
import type { Actor } from "../platform/values/actor.ts";
import type { Caller } from "../platform/http/caller.ts";

/** Composes `supaswarm-create-task`: authenticates, validates, creates the task, responds. */
export function createCreateTaskApp(config: Config, log: Logger): App {
  const sql = openIsolatePool(config.databaseUrl, "supaswarm-create-task");
  const ready = createReleaseCheck(sql, log);
  const gate = createRequestGate(config.cpu);
  const agents = createAgentDirectory(sql);
  const announceProject = createProjectAnnouncer(sql, config.apiKeys.url);

  const fetch = createHttpHandler(
    { methods: ["POST"], log, gate, ready },
    async (request, { requestId }) => {
      const caller = await authenticate(request, config.apiKeys, [
        "user",
        "service",
        "agent",
      ], agents);
      const body = await parseBody(request, createTaskRequest);
      await announceProject();
      const { answer, isNew } = await createTask(sql, body, {
        actor: actorOf(caller),
        userId: caller.kind === "service" ? null : caller.userId,
        clientId: caller.kind === "user" ? caller.clientId : null,
        taskId: caller.kind === "agent" ? caller.taskId : null,
        traceparent: traceparentOf(request),
        tracestate: tracestateOf(request),
      });
      log("info", "task.requested", {
        request_id: requestId,
        task_id: answer.task_id,
        is_new: isNew,
      });
      return Response.json(answer, { status: isNew ? 201 : 200 });
    },
  );
  return { fetch, close: () => sql.end({ timeout: 1 }) };
}

/** In which capacity an authenticated caller acts. */
function actorOf(caller: Caller): Actor {
  if (caller.kind !== "user") return caller.kind;
  return caller.clientId === null ? "user" : "client";
}
