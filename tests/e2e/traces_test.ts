import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { rootsOf, startCollector } from "../engine/worker/otlp_collector.ts";
import { created, sendRequest } from "./create_task_endpoint.ts";
import { addAgent } from "./operator.ts";
import { bootPlatform } from "./platform.ts";
import { call, complete, scriptTurns } from "./script.ts";
import { untilTask } from "./task_view.ts";

const TRACE_ID = "5".repeat(32);

Deno.test("the stack's functions export a job's trace if an endpoint is set", async () => {
  const collector = startCollector();
  {
    await using platform = await bootPlatform({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.server.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=c4n4ry%20key",
        OTEL_SERVICE_NAME: "swarm-e2e",
      },
    });
    const { stack, sql, project } = platform;
    await addAgent(sql, { slug: "boss" });
    await addAgent(sql, { slug: "hand" });
    stack.models.addAgent(
      scriptTurns("boss", call("create_subtask", { agent: "hand", input: "go" }), complete("ok")),
    );
    stack.models.addAgent(scriptTurns("hand", complete("done")));

    const headers = { apikey: stack.secretKey, traceparent: `00-${TRACE_ID}-${"6".repeat(16)}-01` };
    const body = { agent: "boss", input: "Do it" };
    const { task_id } = created(await sendRequest(project, { body, headers }));
    await untilTask(sql, task_id, "completed");

    // Two runs of the boss, one of the worker. Each function exports without a request, at its own
    // time.
    const isRun = ({ name }: { readonly name: string }) => name.startsWith("invoke_agent");
    const roots = () =>
      rootsOf(collector.spans().filter(({ traceId }) => traceId === TRACE_ID))
        .map(({ name }) => name);
    await waitFor(() => collector.spans().filter(isRun).length === 3 && roots().length === 1, {
      what: "three runs in one tree",
    });
    assert.deepEqual(roots(), ["POST /supaswarm-create-task"]);
    assert.ok(collector.spans().filter(isRun).every(({ traceId }) => traceId === TRACE_ID));
    assert.ok(
      collector.server.seen.every(({ headers, url, body }) =>
        headers.get("x-api-key") === "c4n4ry key" && url.pathname === "/v1/traces" &&
        body.includes('"swarm-e2e"')
      ),
    );

    // Every function traces its requests, including refused ones.
    const traceparent = `00-${"7".repeat(32)}-${"8".repeat(16)}-01`;
    for (const name of stack.functions) {
      const answer = await fetch(`${stack.apiUrl}/functions/v1/${name}`, {
        headers: { traceparent },
      });
      await answer.body?.cancel();
    }
    const routes = () =>
      collector.spans().filter(({ traceId }) => traceId === "7".repeat(32)).map(({ name }) => name);
    await waitFor(() => routes().length === stack.functions.length);
    assert.deepEqual(routes().sort(), stack.functions.map((name) => `GET /${name}`).sort());
    assert.ok(stack.functions.length >= 8);
    assert.ok(!platform.logLines.join("\n").includes("c4n4ry"));
  }
  await collector.server.stop();
});
