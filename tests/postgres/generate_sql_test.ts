import assert from "node:assert/strict";
import { DEFOG_SCHEMAS, loadDefog, readDefogData } from "../../lab/bench/nl2sql/defog_data.ts";
import { scriptModel } from "../../scripts/models/scripted_agent.ts";
import { asJsonObject, type JsonObject } from "../../shared/platform/values/json.ts";
import { bootMcpPlatform } from "../gateway/mcp/mcp_platform.ts";
import { connectSdkClient } from "../gateway/mcp/sdk_client.ts";

const data = await readDefogData();

const WRONG = "select name, count(*) from academic.authors group by name";
const ALSO_WRONG = "select author_name, count(*) from academic.author group by 1";
const RIGHT = "select a.name, count(*) from academic.author a " +
  "join academic.writes w on w.aid = a.aid group by a.name";

Deno.test({
  name: "an MCP client gets SQL for a defog database from a model that fails twice",
  ignore: data === null,
  async fn(t) {
    if (data === null) return;
    await using platform = await bootMcpPlatform({ db: "native" });
    const { sql, stack: { models } } = platform;
    await loadDefog(sql, data);
    await sql`update private.sql_policy set exposed_schemas = ${`{${DEFOG_SCHEMAS.join(",")}}`}`;
    await sql`
      update public.mcp_tool_models set default_provider = 'demo', default_model = 'writer',
        supported_providers = '{demo}'
      where mcp_name = 'supabase' and tool_name = 'generate_sql'`;
    let answers: readonly string[] = [];
    models.addAgent(scriptModel("writer", ({ messages }) => ({
      text: answers[messages.filter(({ role }) => role === "assistant").length] ?? WRONG,
    })));
    const ada = await platform.addUser("ada");
    await using connected = await connectSdkClient({
      url: `${platform.mcpUrl}/supabase`,
      headers: ada.headers,
    });
    const call = async (name: string, args: JsonObject) =>
      await connected.client.callTool({ name, arguments: args });

    await t.step("the model fails twice, then succeeds; the valid statement runs", async () => {
      answers = [WRONG, ALSO_WRONG, RIGHT];
      const generated = await call("generate_sql", { prompt: "How many papers has each author?" });

      const meta = generated._meta as JsonObject;
      const { sql: statement } = asJsonObject(generated.structuredContent as JsonObject);
      assert.equal(generated.isError, undefined, JSON.stringify(generated.content));
      assert.equal(meta.attempt, 3);
      assert.equal(models.journal.count("writer"), 3);
      assert.ok(meta.feedback_token);
      const read = await call("execute_sql", { sql: String(statement), dry_run: false });
      assert.equal(read.isError, undefined, JSON.stringify(read.content));
      assert.ok(Number(asJsonObject(read.structuredContent as JsonObject).row_count) > 0);
    });

    await t.step(
      "a final failure contains the data for an editor and a feedback form",
      async () => {
        answers = [WRONG, ALSO_WRONG, "select nothing from academic.author"];
        const failed = await call("generate_sql", { prompt: "How many papers has each author?" });

        const meta = failed._meta as JsonObject;
        assert.equal(failed.isError, true);
        assert.equal(meta.error_code, "EXCEEDED_RETRIES");
        assert.equal(meta.last_sql, "select nothing from academic.author");
        assert.ok(meta.feedback_token);
        const error = asJsonObject(meta["dev.supaswarm/error"]);
        const details = asJsonObject(error.details);
        assert.equal(details.reason, "generation");
        assert.equal(details.last_sql, "select nothing from academic.author");
        assert.match(String(details.last_error), /nothing/);
        assert.equal((details.attempts as JsonObject[]).length, 3);
        const graded = await fetch(`${platform.project.apiUrl}/functions/v1/mcp-feedback`, {
          method: "POST",
          headers: { ...ada.headers, "content-type": "application/json" },
          body: JSON.stringify({ feedback_token: meta.feedback_token, rating: "down" }),
        });
        await graded.body?.cancel();
        assert.equal(graded.status, 200);
      },
    );
  },
});
