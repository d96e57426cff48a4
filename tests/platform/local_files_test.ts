import assert from "node:assert/strict";
import { registerLocalFiles } from "../../scripts/platform/register_local_files.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { openToolDatabase } from "../gateway/tools/tool_fixture.ts";

Deno.test("a start gives the files to planner and reader, and again only if no agent has them", async () => {
  const { url, stop } = await openToolDatabase();
  const sql = createSql(url, { maxConnections: 1, applicationName: "local-files-test" });
  const start = () => registerLocalFiles(url, { url: "http://127.0.0.1:9/mcp", apiKey: "key" });
  const given = async () => {
    const rows = await sql`
      select agent.slug, allowed_tools[1] as tool
      from public.agent_tools join public.agents as agent on agent.id = agent_id order by slug`;
    return rows.map(({ slug, tool }) => `${slug} ${tool}`);
  };
  try {
    await sql`
      insert into public.agents (slug, name, system_prompt, provider_id)
      select slug, slug, 'Work.', (select id from public.llm_providers where name = 'demo')
      from unnest(array['planner', 'reader']) as slug
      on conflict do nothing`;
    await start();
    assert.deepEqual(await given(), ["planner list_directory", "reader read_text_file"]);

    await sql`delete from public.agent_tools using public.agents where agents.id = agent_id and slug = 'planner'`;
    await start();
    assert.deepEqual(await given(), ["reader read_text_file"], "an operator's change stays");

    // As a push does, because the files of the agents do not name the tool.
    await sql`delete from public.agent_tools`;
    await start();
    assert.deepEqual(await given(), ["planner list_directory", "reader read_text_file"]);
  } finally {
    await sql.end();
    await stop();
  }
});
