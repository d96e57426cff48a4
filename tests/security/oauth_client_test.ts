import assert from "node:assert/strict";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent, addTool, grantToEveryone } from "../e2e/operator.ts";
import { call, completeWithResults, scriptTurns } from "../e2e/script.ts";
import { untilTask } from "../e2e/task_view.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { startHttpServer } from "../gateway/tools/http_fixture.ts";
import { tryToListen } from "../e2e/channel_listener.ts";
import { oauthClientOf } from "./oauth_client.ts";

const SCOPES = { reader: ["quoth:read"], runner: ["swarm:run"], mailer: ["swarm:run", "mcp:mail"] };

Deno.test("an OAuth client is limited to its scopes", async (t) => {
  const platform = await sharedPlatform();
  const { sql, project, stack } = platform;
  const mail = startHttpServer(() => Response.json({ sent: true }));
  const opened: { readonly client: { realtime: { disconnect(): unknown } } }[] = [];
  try {
    const ada = await platform.addUser("ada");
    opened.push(ada.user);
    const clientOf = async (clientId: keyof typeof SCOPES) => {
      await grantScopes(sql, ada.id, SCOPES[clientId], clientId);
      const client = await oauthClientOf(platform, ada.user.accessToken, clientId);
      opened.push(client);
      return client;
    };
    const [reader, runner, mailer] = [
      await clientOf("reader"),
      await clientOf("runner"),
      await clientOf("mailer"),
    ];
    const mailId = await addTool(sql, {
      slug: "mail",
      type: "http_api",
      config: {
        method: "POST",
        url: `${mail.url}/send`,
        parameters: { type: "object", properties: { to: { type: "string" } } },
      },
    });
    await grantToEveryone(sql, [mailId]);
    await addAgent(sql, { slug: "clerk", tools: [{ id: mailId }] });
    await addAgent(sql, { slug: "boss" });
    stack.models.addAgent(
      scriptTurns("clerk", call("mail__mail", { to: "bob" }), completeWithResults),
    );
    stack.models.addAgent(scriptTurns(
      "boss",
      call("create_subtask", { agent: "clerk", input: "Send it" }),
      completeWithResults,
    ));
    const sentBy = async (headers: Readonly<Record<string, string>>, agent: string) => {
      mail.seen.length = 0;
      const task = created(
        await sendRequest(project, { body: { agent, input: "Send it" }, headers }),
      );
      const { output } = await untilTask(sql, task.task_id, "completed");
      return { count: mail.seen.length, output: JSON.stringify(output), taskId: task.task_id };
    };

    await t.step("a job that it creates calls only the tools of its scopes", async () => {
      for (const agent of ["clerk", "boss"]) {
        const refused = await sentBy(runner.headers, agent);
        assert.match(refused.output, /lacks the scope mcp:mail/, agent);
        assert.equal(refused.count, 0);
        assert.equal((await sentBy(mailer.headers, agent)).count, 1, "with the scope it is sent");
        assert.equal((await sentBy(ada.headers, agent)).count, 1, "the user's own job sends it");
      }
    });

    await t.step("a job's channels need swarm:run", async () => {
      const { taskId } = await sentBy(ada.headers, "clerk");
      for (const topic of [`supaswarm:master:${taskId}`, `supaswarm:task:${taskId}`]) {
        const join = (client: typeof runner.client) => tryToListen(client, topic);
        assert.equal(await join(reader.client), "REFUSED", topic);
        assert.equal(await join(runner.client), "SUBSCRIBED", topic);
        assert.equal(await join(ada.user.client), "SUBSCRIBED", topic);
      }
    });

    await t.step("a job's files need swarm:run", async () => {
      const { taskId } = await sentBy(ada.headers, "clerk");
      const path = `${taskId}/${taskId}/report.md`;
      const stored = await fetch(`${project.apiUrl}/storage/v1/object/supaswarm-data/${path}`, {
        method: "POST",
        headers: { apikey: stack.secretKey, "content-type": "text/markdown" },
        body: "What the agents wrote",
      });
      assert.equal(stored.status, 200, await stored.text());
      const files = (client: typeof runner.client) => client.storage.from("supaswarm-data");

      assert.notEqual((await files(reader.client).download(path)).error, null);
      assert.notEqual((await files(reader.client).createSignedUrl(path, 60)).error, null);
      assert.deepEqual((await files(reader.client).list(`${taskId}/${taskId}`)).data ?? [], []);
      for (const { client } of [runner, ada.user]) {
        assert.equal(
          await (await files(client).download(path)).data?.text(),
          "What the agents wrote",
        );
      }
    });
  } finally {
    for (const { client } of opened) await client.realtime.disconnect();
    await mail.stop();
  }
});
