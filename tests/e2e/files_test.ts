import assert from "node:assert/strict";
import { castOf } from "../security/cast.ts";
import { addAgent, addProvider } from "./operator.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { untilTask } from "./task_view.ts";

const BUCKET = "supaswarm-data";
const IMAGE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2, 3, 4]);

Deno.test("files that users upload reach the model, and no other user", async (t) => {
  const requests: string[] = [];
  const model = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    requests.push(await request.text());
    const message = { role: "assistant", content: "I have seen it" };
    return Response.json({
      choices: [{ index: 0, finish_reason: "stop", message }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  try {
    await using platform = await sharedPlatform();
    await using cast = await castOf(platform);
    const { owner, stranger, anon } = cast;
    const { sql } = platform;
    await addProvider(sql, { name: "seer", baseUrl: `http://127.0.0.1:${model.addr.port}/v1` });
    await addAgent(sql, { slug: "seer", provider: "seer" });
    const filesOf = ({ storage }: typeof anon) => storage.from(BUCKET);
    const own = (name: string) => `${owner.id}/${name}`;
    const createTask = (client: typeof anon, files: unknown) =>
      client.functions.invoke("supaswarm-create-task", {
        body: { agent: "seer", input: { question: "What is this?", files } },
      });

    await t.step("a user uploads into their own folder, replaces, lists and deletes", async () => {
      const files = filesOf(owner.client);
      for (
        const [name, content] of [["notes.md", "Quarterly notes"], ["photo.png", IMAGE]] as const
      ) {
        const { error } = await files.upload(own(name), content, {
          contentType: name.endsWith("png") ? "image/png" : "text/markdown",
        });
        assert.equal(error, null, JSON.stringify(error));
      }
      const again = await files.upload(own("notes.md"), "Newer notes", {
        upsert: true,
        contentType: "text/markdown",
      });
      assert.equal(again.error, null, JSON.stringify(again.error));
      assert.equal(await (await files.download(own("notes.md"))).data?.text(), "Newer notes");
      assert.equal((await files.list(owner.id)).data?.length, 2);
      await files.upload(own("draft.txt"), "x");
      assert.equal((await files.remove([own("draft.txt")])).data?.length, 1);
    });

    await t.step("an unsupported type and every other folder are refused", async () => {
      const refused: [string, typeof anon, string][] = [
        ["a program", owner.client, own("tool.exe")],
        ["no ending", owner.client, own("notes")],
        ["a stranger's folder", owner.client, `${stranger.id}/notes.md`],
        ["the root", owner.client, "notes.md"],
        ["a stranger", stranger.client, own("theirs.md")],
        ["nobody", anon, own("theirs.md")],
      ];
      for (const [who, client, path] of refused) {
        assert.notEqual((await filesOf(client).upload(path, "x")).error, null, who);
      }
      for (const client of [stranger.client, anon]) {
        assert.notEqual((await filesOf(client).download(own("notes.md"))).error, null);
        assert.deepEqual((await filesOf(client).remove([own("notes.md")])).data ?? [], []);
      }
    });

    await t.step("the model reads an image as an image, and text as fenced text", async () => {
      const { data, error } = await createTask(owner.client, [own("notes.md"), own("photo.png")]);
      assert.equal(error, null, JSON.stringify(error));
      await untilTask(sql, data.task_id, "completed");

      const [request = ""] = requests;
      const { messages } = JSON.parse(request);
      const [image, text] = messages.at(-1).content;
      const base64 = btoa(String.fromCharCode(...IMAGE));
      assert.equal(image.image_url.url, `data:image/png;base64,${base64}`);
      assert.ok(text.text.includes(`source="${own("notes.md")}">\nNewer notes\n</untrusted_data>`));
      assert.ok(text.text.includes("What is this?"));
    });

    await t.step("a task that names another user's file is not created", async () => {
      const { error } = await createTask(stranger.client, [own("notes.md")]);

      const answer = await error.context.json();
      assert.equal(error.context.status, 404);
      assert.equal(answer.error.code, "FILE_NOT_FOUND");
    });

    await t.step("a task whose file was deleted fails before any model call", async () => {
      const files = filesOf(owner.client);
      await files.upload(own("gone.md"), "x");
      const { data } = await owner.client.functions.invoke("supaswarm-create-task", {
        body: {
          agent: "seer",
          input: { files: [own("gone.md")] },
          run_after: new Date(Date.now() + 3_600_000).toISOString(),
        },
      });
      await files.remove([own("gone.md")]);
      const before = requests.length;
      await sql`update public.tasks set run_after = now() where id = ${data.task_id}`;
      await sql`select private.tick()`; // As the scheduler does every 15 seconds.

      await untilTask(sql, data.task_id, "failed");

      const [task] =
        await sql`select error ->> 'code' as code from public.tasks where id = ${data.task_id}`;
      assert.equal(task?.code, "FILE_NOT_FOUND");
      assert.equal(requests.length, before);
    });
  } finally {
    await model.shutdown();
  }
});
