import assert from "node:assert/strict";
import { startModelServer } from "../../../scripts/models/model_server.ts";
import { scriptModel } from "../../../scripts/models/scripted_agent.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { openFixtureOnSharedDatabase } from "../../gateway/tools/shared_database.ts";
import { userCaller } from "../../gateway/tools/tool_fixture.ts";
import { callSupabase, registerSupabase } from "./supabase_call.ts";

Deno.test("format_results shows the rows of execute_sql in every format", async (t) => {
  await using fixture = await openFixtureOnSharedDatabase();
  await registerSupabase(fixture);
  const user = userCaller(await fixture.createUser());
  const rows = await callSupabase(fixture, user, "execute_sql", {
    sql: "select 'Bonn' as city, 3 as total union all select '=Köln', 4",
    dry_run: false,
  });
  const format = (format: string, extra: JsonObject = {}) =>
    callSupabase(fixture, user, "format_results", { data: rows.text, format, ...extra });

  await t.step("table, csv and json need no model", async () => {
    assert.match((await format("table")).text, /^\| city \| total \|\n\| --- \| ---: \|/);
    assert.equal((await format("csv")).text, `"city","total"\r\n"Bonn",3\r\n"'=Köln",4\r\n`);
    assert.deepEqual(JSON.parse((await format("json")).text), [
      { city: "Bonn", total: 3 },
      { city: "=Köln", total: 4 },
    ]);
  });

  await t.step("a chart is a Vega-Lite specification and an SVG", async () => {
    const { answer, text } = await format("chart");

    assert.match(text, /^<svg [\s\S]*<\/svg>$/);
    assert.equal(answer.svg, text);
    assert.equal(
      (answer.vega_lite as JsonObject).$schema,
      "https://vega.github.io/schema/vega-lite/v5.json",
    );
  });

  await t.step("a summary without a model states that it only counts, and why", async () => {
    const { answer, meta, text } = await format("summary");

    assert.equal(answer.summary_by, "counting");
    assert.match(text, /2 rows with 2 columns/);
    assert.match(String(answer.note), /^Counted, not written by a model: .*\(MODEL_KEY_MISSING\)/);
    assert.deepEqual([meta?.provider_used, meta?.model_used], [null, null]);
  });

  await t.step("a model writes the summary from the rows as data", async () => {
    const asked: string[] = [];
    const models = await startModelServer({
      agents: [scriptModel("writer", (request) => {
        asked.push(JSON.stringify(request));
        return { text: "Two cities." };
      })],
    });
    try {
      await fixture.sql`
        insert into public.llm_providers (name, display_name, api, base_url, default_model, requires_api_key)
        values ('local', 'Local', 'openai', ${`${models.url}/v1`}, 'writer', false)`;
      await fixture.sql`
        update public.mcp_tool_models
        set supported_providers = '{local}', default_provider = 'local', default_model = 'writer'
        where tool_name = 'format_results'`;
      const { answer, meta } = await format("summary");

      assert.deepEqual([answer.text, answer.summary_by], ["Two cities.", "model"]);
      assert.deepEqual([meta?.provider_used, meta?.model_used], ["local", "writer"]);
      assert.match(asked[0] ?? "", /untrusted_data[\s\S]*Bonn/);
    } finally {
      await models.stop();
    }
  });

  await t.step("input without rows is refused with the expected form", async () => {
    const { isError, errorCode, answer, meta } = await callSupabase(
      fixture,
      user,
      "format_results",
      { data: "[{", format: "csv" },
    );

    assert.equal(isError, true);
    assert.equal(errorCode, "TOOL_ARGUMENTS_INVALID");
    assert.equal((answer.error as JsonObject).code, "TOOL_ARGUMENTS_INVALID");
    assert.deepEqual(meta?.provider_used, null);
    assert.equal(
      (await callSupabase(fixture, user, "format_results", {
        data: "a\nb",
        format: "chart",
      })).errorCode,
      "TOOL_ARGUMENTS_INVALID",
    );
  });
});
