import assert from "node:assert/strict";
import { loadYaml } from "../../../scripts/deps.ts";
import { readMcpsFile } from "../../../scripts/mcps/read_mcps_file.ts";
import { syncMcps } from "../../../scripts/mcps/sync_mcps.ts";
import type { SyncPlan } from "../../../scripts/mcps/plan_sync.ts";
import {
  answerOf,
  callOf,
  noAbort,
  nobody,
  openToolFixture,
  type ToolFixture,
} from "../tools/tool_fixture.ts";
import { startMcpServer } from "../tools/mcp_fixture.ts";

const TOKEN = "tok_c4n4ry_0123456789";
const ORG = "org_c4n4ry_9876543210";
const ENVIRONMENT = { NOTES_TOKEN: TOKEN, NOTES_ORG: ORG };
const yaml = await loadYaml();

interface SyncInput {
  readonly environment?: Readonly<Record<string, string>>;
  readonly isDryRun?: boolean;
}

function sync({ sql }: ToolFixture, text: string, input: SyncInput = {}): Promise<SyncPlan> {
  const { environment = ENVIRONMENT, isDryRun = false } = input;
  const entries = readMcpsFile(text, "mcps.yaml", yaml);
  return syncMcps(sql, { fileName: "mcps.yaml", entries, environment, isDryRun });
}

/** A plan's action for each server and secret. */
function changesOf({ servers, secrets }: SyncPlan): Record<string, string> {
  return Object.fromEntries([
    ...servers.map(({ slug, change }) => [slug, change]),
    ...secrets.map(({ name, change }) => [name.replace("supaswarm/mcp/", ""), change]),
  ]);
}

function notesFile(url: string, ...more: string[]): string {
  return [
    "mcps:",
    "  notes:",
    "    name: Notes",
    `    url: ${url}`,
    "    credentials:",
    "      token_env: NOTES_TOKEN",
    "      org_env: NOTES_ORG",
    "    headers: {X-Org: 'org {{org_env}}', X-Region: eu}",
    "    query: {org: '{{org_env}}', version: '2'}",
    ...more.map((line) => `    ${line}`),
    "",
  ].join("\n");
}

/** Everything that is stored outside Vault, as text. */
async function everythingStored({ sql }: ToolFixture): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('public', 'private', 'net', 'pgmq', 'realtime', 'cron')`;
  const texts: string[] = [];
  for (const { name } of tables) {
    texts.push(JSON.stringify(await sql.unsafe(`select to_jsonb(t) from ${name} t`)));
  }
  return texts.join("\n");
}

Deno.test("mcps:sync", async (t) => {
  const server = await startMcpServer();
  const fixture = await openToolFixture();
  const { sql } = fixture;
  const file = notesFile(server.url);

  await t.step("a dry run shows the difference and changes nothing", async () => {
    const plan = await sync(fixture, file, { isDryRun: true });

    assert.deepEqual(changesOf(plan), {
      notes: "added",
      "notes/token": "stored",
      "notes/org": "stored",
    });
    const [count] = await sql`
      select (select count(*) from public.tools where source = 'yaml')
        + (select count(*) from vault.secrets where name like 'supaswarm/mcp/%') as count`;
    assert.equal(Number(count?.count), 0);
  });

  await t.step("an unset variable is named with its line, and nothing changes", async () => {
    await assert.rejects(
      sync(fixture, file, { environment: { NOTES_TOKEN: TOKEN } }),
      /mcps\.yaml:7: mcps\.notes: the environment variable NOTES_ORG is not set/,
    );
    const rows = await sql`select 1 from public.tools where slug = 'notes'`;
    assert.equal(rows.length, 0);
  });

  await t.step("a value that no header can carry is refused without showing it", async () => {
    const environment = { NOTES_TOKEN: "two\nlines", NOTES_ORG: ORG };
    await assert.rejects(
      sync(fixture, file, { environment }),
      /mcps\.yaml:6: NOTES_TOKEN cannot be used in a header: it has control characters((?!two).)*$/,
    );
  });

  await t.step("two concurrent syncs create one server", async () => {
    const plans = await Promise.all([sync(fixture, file), sync(fixture, file)]);

    const changes = plans.map((plan) => changesOf(plan).notes).sort();
    assert.deepEqual(changes, ["added", "unchanged"]);
    const [row] = await sql`
      select config, source, is_active, credential_type from public.tools where slug = 'notes'`;
    assert.deepEqual(row?.config, {
      mcp_url: server.url,
      headers: { "X-Org": { secret: "supaswarm/mcp/notes/org", prefix: "org " }, "X-Region": "eu" },
      query: { org: { secret: "supaswarm/mcp/notes/org" }, version: "2" },
    });
    assert.deepEqual(
      [row?.source, row?.is_active, row?.credential_type],
      ["yaml", true, "bearer_token"],
    );
  });

  await t.step("a second sync changes nothing", async () => {
    assert.deepEqual(changesOf(await sync(fixture, file)), {
      notes: "unchanged",
      "notes/token": "unchanged",
      "notes/org": "unchanged",
    });
  });

  await t.step("credentials are sent only where the file configures them", async () => {
    const [tool] = await sql<{ id: string }[]>`select id from public.tools where slug = 'notes'`;
    const caller = await fixture.createCaller(null, [tool?.id ?? ""]);
    const search = await fixture.findTool(caller, "search");
    const outcome = await fixture.gateway.call(
      callOf(search, caller, { searchValue: `about ${ORG} and ${TOKEN}` }),
      noAbort(),
    );

    const seen = server.seen.at(-1);
    assert.equal(seen?.headers.get("authorization"), `Bearer ${TOKEN}`);
    assert.equal(seen?.headers.get("x-org"), `org ${ORG}`);
    assert.equal(seen?.headers.get("x-region"), "eu");
    assert.deepEqual([...seen?.url.searchParams ?? []], [["version", "2"], ["org", ORG]]);
    const output = JSON.stringify(outcome) + fixture.logged.join("\n") +
      await everythingStored(fixture);
    assert.match(output, /\[redacted\]/);
    assert.ok(!output.includes(TOKEN) && !output.includes(ORG));
  });

  await t.step(
    "a removed variable keeps the value in Vault, and a new value replaces it",
    async () => {
      const kept = await sync(fixture, file, { environment: { NOTES_ORG: "org_new" } });

      assert.deepEqual(changesOf(kept), {
        notes: "unchanged",
        "notes/token": "kept",
        "notes/org": "replaced",
      });
      const [secret] = await sql`select private.secret_value('supaswarm/mcp/notes/token') as value`;
      assert.equal(secret?.value, TOKEN);
    },
  );

  await t.step("changes in the file or by hand are reset to the file", async () => {
    await sql`update public.tools set name = 'Mine now', is_active = false where slug = 'notes'`;
    const plan = await sync(fixture, notesFile(server.url, "timeout_ms: 5000"));

    const [notes] = plan.servers;
    assert.deepEqual([notes?.change, notes?.fields], ["changed", ["name", "config", "is_active"]]);
    const [row] = await sql`
      select name, is_active, config -> 'timeout_ms' as timeout from public.tools
      where slug = 'notes'`;
    assert.deepEqual([row?.name, row?.is_active, Number(row?.timeout)], ["Notes", true, 5000]);
  });

  await t.step("only the allowed tools are listed and called", async () => {
    await sync(fixture, notesFile(server.url, "allowed_tools: [search, no_such]"));
    const listing = await fixture.gateway.listServerTools("notes", nobody(), {}, noAbort());

    assert.deepEqual(listing.tools.map(({ name }) => name), ["search"]);
    assert.deepEqual(listing.dropped.map(({ name }) => name), ["no_such"]);
    const write = { server: "notes", toolName: "write_note" };
    const outcome = await answerOf(fixture.gateway, callOf(write, nobody(), { text: "x" }));
    assert.equal(outcome.errorCode, "TOOL_NOT_FOUND");
    assert.deepEqual(server.notes, []);
  });

  await t.step("two servers can swap their names", async () => {
    const named = (first: string, second: string) =>
      `mcps:\n  a: {name: ${first}, url: ${server.url}}\n  b: {name: ${second}, url: ${server.url}}\n`;
    await sync(fixture, named("One", "Two"));
    await sync(fixture, named("Two", "One"));

    const rows = await sql`select name from public.tools where source = 'yaml' order by slug`;
    assert.deepEqual(rows.map(({ name }) => name), ["Two", "One"]);
  });

  await t.step("a disabled entry is deactivated and keeps its secrets", async () => {
    await sync(fixture, file);
    const disabled = file.replace("name: Notes", "name: Notes\n    enabled: false");
    const plan = await sync(fixture, disabled, { environment: {} });

    assert.deepEqual(changesOf(plan), { notes: "switched_off" });
    assert.deepEqual(changesOf(await sync(fixture, disabled)), { notes: "disabled" });
    const [row] = await sql`
      select is_active, private.secret_value('supaswarm/mcp/notes/token') as token
      from public.tools where slug = 'notes'`;
    assert.deepEqual([row?.is_active, row?.token], [false, TOKEN]);
  });

  await t.step("a removed entry is deleted with all secrets, also those of users", async () => {
    await sync(fixture, file);
    const userId = await fixture.createUser();
    const [tool] = await sql<{ id: string }[]>`select id from public.tools where slug = 'notes'`;
    await fixture.createCaller(userId, [tool?.id ?? ""]);
    await sql`select vault.create_secret('mine_c4n4ry', 'supaswarm/user/x/tool/notes')`;
    await sql`
      insert into public.user_tool_credentials (user_id, tool_id, vault_secret_name)
      values (${userId}, ${tool?.id ?? ""}, 'supaswarm/user/x/tool/notes')`;
    const plan = await sync(fixture, "mcps:\n");

    assert.deepEqual(changesOf(plan), {
      notes: "removed",
      "notes/token": "removed",
      "notes/org": "removed",
    });
    assert.equal(plan.servers[0]?.agentCount, 1);
    const rows = await sql`
      select slug from public.tools where slug = 'notes'
      union all
      select name from vault.secrets
      where name like 'supaswarm/mcp/%' or name = 'supaswarm/user/x/tool/notes'`;
    assert.deepEqual([...rows], []);
  });

  await t.step("a row that somebody else created is a conflict and is unchanged", async () => {
    const config = sql.json({ mcp_url: "https://by-hand.example.com" });
    await sql`
      insert into public.tools (slug, name, type, config)
      values ('notes', 'By hand', 'mcp_server', ${config})`;
    await assert.rejects(sync(fixture, file), /mcps\.yaml:2: .*has a tool 'notes' \(mcp_server\)/);
    await assert.rejects(
      sync(fixture, file.replace("notes:", "memos:").replace("name: Notes", "name: By hand")),
      /mcps\.yaml:2: mcps\.memos\.name: the tool 'notes' is called 'By hand' already/,
    );
    await sync(fixture, "mcps:\n");

    const [row] = await sql`select config from public.tools where slug = 'notes'`;
    assert.deepEqual(row?.config, { mcp_url: "https://by-hand.example.com" });
  });

  await fixture.stop();
  await server.stop();
});
