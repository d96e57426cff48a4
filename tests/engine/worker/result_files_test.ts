import assert from "node:assert/strict";
import { estimatePromptTokens } from "../../../shared/engine/agent/estimate_tokens.ts";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import type { ContentBlock } from "../../../shared/platform/values/content_block.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import type { ModelFile, ModelMessage } from "../../../shared/models/llm/model_port.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import { answered, ask, type ModelTurn, Swarm } from "./swarm_fixture.ts";

const PNG = btoa(`\x89PNG\r\n\x1a\n${"pixels".repeat(20)}`);
const PDF = btoa("%PDF-1.7 a report");

async function openSwarm(): Promise<Swarm & AsyncDisposable> {
  const swarm = await Swarm.open();
  return Object.assign(swarm, { [Symbol.asyncDispose]: () => swarm.close() });
}

const tools = [toolNamed("draw", { isReadOnly: true }), toolNamed("write")];
const returning = (content: readonly ContentBlock[], parts: { isError?: boolean } = {}) => () =>
  answered("", { content: content as unknown as JsonValue, ...parts });

/** Calls `draw` once, then ends; records what the model was shown. */
function drawer(seen: TaskModelCall[]) {
  return (call: TaskModelCall): ModelTurn => {
    seen.push(call);
    const isDrawn = call.prompt.messages.some(({ role }) => role === "tool");
    return isDrawn ? { text: "Drawn" } : { calls: [ask("draw")] };
  };
}

function resultOf(messages: readonly ModelMessage[]) {
  const result = messages.find((message) => message.role === "tool");
  assert.ok(result?.role === "tool");
  return result;
}

const typesOf = (files: readonly ModelFile[] = []) => files.map(({ facts }) => facts?.mediaType);

Deno.test("files that a tool returns are stored", async (t) => {
  await using swarm = await openSwarm();

  await t.step("they are files of the task, named in its step and shown to the model", async () => {
    const seen: TaskModelCall[] = [];
    const worker = swarm.startWorker({
      model: drawer(seen),
      tools,
      callTool: returning([
        { type: "text", text: "Two charts" },
        { type: "image", data: PNG, mimeType: "image/jpeg" },
        { type: "audio", data: btoa("OggS sound"), mimeType: "audio/ogg" },
        { type: "resource", resource: { uri: "r://notes.md", text: "# Notes" } },
        {
          type: "resource",
          resource: { uri: "r://r.pdf", blob: PDF, mimeType: "application/pdf" },
        },
      ]),
    });
    const taskId = await swarm.createTask("Draw");
    const task = await swarm.until(taskId, "completed");
    await worker.stop();

    const names = ["1.png", "2.ogg", "3.md", "4.pdf"];
    const paths = names.map((name) => `${taskId}/${taskId}/_step-2-${name}`);
    assert.deepEqual(task.storage_paths, paths);
    assert.deepEqual(worker.artifacts.map(({ path, contentType }) => [path, contentType]), [
      [paths[0], "image/png"],
      [paths[1], "audio/ogg"],
      [paths[2], "text/plain; charset=utf-8"],
      [paths[3], "application/pdf"],
    ]);
    assert.deepEqual(worker.artifacts[0]?.body, Uint8Array.from(atob(PNG), byteOf));

    const result = resultOf(seen.at(-1)?.prompt.messages ?? []);
    assert.deepEqual(typesOf(result.files), ["image/png", "application/pdf"]);
    for (const path of paths) assert.ok(result.text.includes(path), result.text);
    assert.match(result.text, /untrusted_data[^]*Two charts[^]*# Notes/);
    assert.match(result.text, /2\.ogg; you cannot read it/);
    const [kept] = await swarm.sql`
      select jsonb_agg(to_jsonb(step)) || (
        select jsonb_agg(to_jsonb(event)) from public.task_events as event where event.task_id = ${taskId}::uuid
      ) as rows
      from public.task_steps as step where step.task_id = ${taskId}::uuid`;
    const rows = JSON.stringify(kept?.rows);
    assert.ok(!rows.includes(PNG.slice(0, 30)) && !rows.includes(PDF), "no row holds their bytes");
    assert.ok(rows.includes('"media_type":"image/png"'));
  });

  await t.step("they are only named if the call failed", async () => {
    const seen: TaskModelCall[] = [];
    const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
    const worker = swarm.startWorker({
      model: drawer(seen),
      tools,
      callTool: returning([{ type: "text", text: "No ink" }, image], { isError: true }),
    });
    const task = await swarm.until(await swarm.createTask("Draw"), "completed");
    await worker.stop();

    const result = resultOf(seen.at(-1)?.prompt.messages ?? []);
    assert.equal(result.files, undefined);
    assert.match(result.text, /No ink/);
    assert.match(result.text, /_step-2-1\.png/);
    assert.equal(task.storage_paths.length, 1);
  });

  await t.step("a file that cannot be stored costs the task only the file", async () => {
    const seen: TaskModelCall[] = [];
    const worker = swarm.startWorker({
      model: drawer(seen),
      tools,
      callTool: returning([
        { type: "text", text: "Drawn" },
        { type: "image", data: PNG, mimeType: "image/png" },
        { type: "image", data: "%%%", mimeType: "image/png" },
      ]),
      artifacts: {
        put: () => Promise.reject(new SwarmError("STORAGE_UNAVAILABLE", "Storage is away")),
      },
    });
    const task = await swarm.until(await swarm.createTask("Draw"), "completed");
    await worker.stop();

    assert.deepEqual([task.output, task.attempts, task.storage_paths], ["Drawn", 0, []]);
    const { text, files } = resultOf(seen.at(-1)?.prompt.messages ?? []);
    assert.equal(files, undefined);
    assert.match(text, /not stored: STORAGE_UNAVAILABLE/);
    assert.match(text, /omitted: its data is empty or not base64/);
  });

  await t.step("linked resources are read from the tool's server", async () => {
    const seen: TaskModelCall[] = [];
    const asked: JsonValue[] = [];
    const link = (name: string, size = 1): ContentBlock => ({
      type: "resource_link",
      uri: `r://${name}`,
      name,
      size,
    });
    const worker = swarm.startWorker({
      model: drawer(seen),
      tools,
      callTool: returning([link("a.png"), link("gone"), link("huge", 1e9), link("b.txt")]),
      relay: ({ server, method, params }) => {
        asked.push([server, method, params.uri ?? null]);
        const { uri } = params;
        if (uri === "r://gone") throw new SwarmError("RESOURCE_NOT_FOUND", "It is gone");
        const content = uri === "r://a.png" ? { blob: PNG } : { text: "plain words" };
        return Promise.resolve({ contents: [{ uri: uri ?? "", ...content }] });
      },
    });
    const task = await swarm.until(await swarm.createTask("Draw"), "completed");
    await worker.stop();

    assert.deepEqual(
      asked,
      ["a.png", "gone", "b.txt"].map((name) => ["files", "resources/read", `r://${name}`]),
    );
    const { text, files } = resultOf(seen.at(-1)?.prompt.messages ?? []);
    assert.deepEqual(typesOf(files), ["image/png"]);
    assert.match(text, /resource gone: r:\/\/gone\) \(not read: RESOURCE_NOT_FOUND\)/);
    assert.match(text, /r:\/\/huge\) \(not read: it is too large\)/);
    assert.match(text, /plain words/);
    assert.equal(task.storage_paths.length, 2);
  });

  await t.step("they reach follow-ups, forks and a recalled result", async () => {
    const seen: TaskModelCall[] = [];
    const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
    const worker = swarm.startWorker({
      model: (call) => {
        seen.push(call);
        const roles = call.prompt.messages.map(({ role }) => role);
        if (roles.at(-1) !== "user") return { text: "Drawn" };
        return { calls: [roles.length === 1 ? ask("draw") : ask("recall_result", { step: 2 })] };
      },
      tools,
      callTool: returning([image]),
    });
    const taskId = await swarm.createTask("Draw");
    await swarm.until(taskId, "completed");
    await swarm.sql`select public.continue_task(${taskId}::uuid, '"Look again"')`;
    const task = await swarm.until(taskId, "completed");

    const recalled = seen.at(-1)?.prompt.messages.filter(({ role }) => role === "tool") ?? [];
    assert.deepEqual(
      recalled.map((message) => message.role === "tool" ? typesOf(message.files) : []),
      [["image/png"], ["image/png"]],
    );
    assert.equal(worker.artifacts.length, 1, "the file was stored once");
    assert.equal(task.storage_paths.length, 1);

    const [forked] = await swarm.sql`select public.fork_task(${taskId}::uuid, 3) as id`;
    await swarm.until(String(forked?.id), "completed");
    await worker.stop();
    const { files } = resultOf(seen.at(-1)?.prompt.messages ?? []);
    assert.equal(files?.[0]?.path, task.storage_paths[0]);
  });
});

Deno.test("compaction counts the files of results and omits the oldest", async () => {
  await using swarm = await openSwarm();
  const windowTokens = 20_000;
  await swarm.sql`
    insert into public.model_windows (provider_id, model_prefix, window_tokens)
    values (null, 'script', ${windowTokens})`;
  const seen: TaskModelCall[] = [];
  const drawn = (call: TaskModelCall) =>
    call.prompt.messages.filter(({ role }) => role === "assistant").length;
  const worker = swarm.startWorker({
    // A lease that expires on a slow machine would count calls twice.
    leaseSeconds: 60,
    model: (call) => {
      if (call.prompt.tools.length === 0) return { text: "Charts were drawn" };
      seen.push(call);
      return seen.length > 14 ? { text: `${drawn(call)} charts` } : { calls: [ask("draw")] };
    },
    tools,
    callTool: returning([{ type: "image", data: PNG, mimeType: "image/png" }]),
  });
  const task = await swarm.until(await swarm.createTask("Draw many"), "completed");
  await worker.stop();

  assert.equal(task.storage_paths.length, 14, "all files stay files of the task");
  const counts = seen.map(({ prompt }) =>
    prompt.messages.filter((message) => message.role === "tool" && message.files !== undefined)
      .length
  );
  assert.ok(Math.max(...counts) < 14 && counts.at(-1) !== 0, JSON.stringify(counts));
  for (const { prompt } of seen) assert.ok(estimatePromptTokens(prompt) <= windowTokens);
  const last = seen.at(-1)?.prompt.messages.findLast(({ role }) => role === "tool");
  assert.ok(last?.role === "tool" && last.files?.length === 1, "the newest is shown");
});

Deno.test("files of the user that fit no window end the task before any call", async () => {
  await using swarm = await openSwarm();
  await swarm.sql`
    insert into storage.objects (bucket_id, name, metadata)
    values ('supaswarm-data', 'u/book.txt', '{"size": 900000}')`;
  const seen: TaskModelCall[] = [];
  const worker = swarm.startWorker({
    model: drawer(seen),
    describeFiles: (paths) =>
      Promise.resolve(paths.map((path) => ({ path, mediaType: "text/plain", bytes: 900_000 }))),
  });

  const taskId = await swarm.createTask({ question: "Who did it?", files: ["u/book.txt"] });
  const { error } = await swarm.until(taskId, "failed");
  await worker.stop();

  assert.equal(error?.code, "MODEL_CONTEXT_EXCEEDED");
  assert.equal(seen.length, 0);
});

function byteOf(character: string): number {
  return character.charCodeAt(0);
}
