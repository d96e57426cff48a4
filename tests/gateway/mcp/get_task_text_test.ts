import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { waitFor } from "../../../scripts/wait_for.ts";
import { addAgent } from "../../e2e/operator.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { connectSdkClient } from "./sdk_client.ts";
import { startStreamingModel } from "./streaming_model.ts";
import { useOpenRouter } from "./use_openrouter.ts";

const createdSchema = z.object({ task_id: z.guid() });
const jobSchema = z.object({
  has_ended: z.boolean(),
  task: z.looseObject({ status: z.string(), output: z.unknown() }),
});

Deno.test("get_task sends the answer as progress while its model writes it", async (t) => {
  await using model = startStreamingModel();
  await using platform = await sharedPlatform();
  const { sql, mcpUrl } = platform;
  await useOpenRouter(sql, model.url);
  await addAgent(sql, { slug: "writer-of-pieces", provider: "openrouter" });
  // Its first answer is not its last, so the second call begins while the job is watched.
  await sql`update public.agents set must_complete = true where slug = 'writer-of-pieces'`;
  const ada = await platform.addUser("ada");

  /** Creates a task whose first model call ends once the job is watched. */
  const watchTask = async (end: Promise<string>, signal?: AbortSignal) => {
    const begun = Promise.withResolvers<string>();
    model.script = [begun.promise];
    const before = model.requests.length;
    const connected = await connectSdkClient({
      url: `${mcpUrl}/swarm`,
      headers: ada.headers,
    });
    const { structuredContent } = await connected.client.callTool({
      name: "create_task",
      arguments: { agent: "writer-of-pieces", input: "Write" },
    });
    const { task_id } = createdSchema.parse(structuredContent);
    await waitFor(() => Promise.resolve(model.requests.length > before), {
      what: "the model call",
    });
    const messages: string[] = [];
    const watching = connected.client.callTool(
      { name: "get_task", arguments: { task_id, wait_seconds: 45 } },
      {
        onprogress: ({ message = "" }) => messages.push(message),
        ...(signal === undefined ? {} : { signal }),
      },
    );
    await waitFor(async () => {
      const [row] = await sql`
        select private.watched_seconds(${task_id}::uuid) > 0 as is_watched`;
      return row?.is_watched === true;
    }, { what: "the job to be watched" });
    model.script = ["The first part, ", "and ", end];
    begun.resolve("A draft");
    return { connected, messages, task_id, watching };
  };

  await t.step("in pieces, before it is complete", async () => {
    const end = Promise.withResolvers<string>();
    const { connected, messages, watching } = await watchTask(end.promise);

    await waitFor(() => Promise.resolve(messages.join("").includes("The first part")), {
      what: "the first pieces",
    });
    assert.ok(!messages.join("").includes("the end"), "the model has not written it");
    end.resolve("the end.");
    const job = jobSchema.parse((await watching).structuredContent);
    await connected[Symbol.asyncDispose]();

    assert.deepEqual([job.has_ended, job.task.output], [true, "The first part, and the end."]);
    const written = messages.filter((message) => !/\(task [0-9a-f-]{36}\)/.test(message)).join("");
    assert.ok("The first part, and the end.".startsWith(written), written);
    assert.ok(messages.every((message) => message.length <= 8_000));
    assert.ok(
      messages.some((message) => message.startsWith("task.completed ")),
      "events are sent after text, too",
    );
  });

  await t.step("a client that disconnects does not end the task", async () => {
    const end = Promise.withResolvers<string>();
    const client = new AbortController();
    const { connected, messages, task_id, watching } = await watchTask(end.promise, client.signal);
    await waitFor(() => Promise.resolve(messages.join("").includes("The first part")), {
      what: "the first pieces",
    });

    client.abort();
    await assert.rejects(watching);
    end.resolve("the end.");

    await waitFor(async () => {
      const [row] = await sql`select status from public.tasks where id = ${task_id}::uuid`;
      return row?.status === "completed";
    }, { what: "the task to complete" });
    await connected[Symbol.asyncDispose]();
  });
});
