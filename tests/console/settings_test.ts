import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  type ConsoleFixture,
  openConsoleFixture,
  picture,
  type Reader,
} from "./console_fixture.ts";

// The list "What operators do every week" of docs/how-to/use-the-console.md, walked by area.

const consoleTest = testsSharing(openConsoleFixture);

/** Signs up a person who may change everything, and returns the id. */
async function signUpHolder({ platform }: ConsoleFixture, reader: Reader, name: string) {
  const id = await reader.signUp(name);
  await grantScopes(platform.sql, id, ["swarm:operate", "swarm:configure"]);
  return id;
}

/** Presses a button of the open dialog and waits until the dialog has closed. */
async function confirm({ page }: Reader, name = "Save"): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Saves the form as JSON, after a look at the change. */
async function saveJson(reader: Reader, value: unknown): Promise<void> {
  const { page } = reader;
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByLabel("Settings as JSON").fill(JSON.stringify(value));
  await page.getByRole("button", { name: "Review changes" }).click();
  await confirm(reader);
}

consoleTest("a provider gets its address, key, price and cap without SQL", async (fixture) => {
  const { sql } = fixture.platform;
  await using holder = await fixture.open();
  const { page } = holder;
  await signUpHolder(fixture, holder, "provider-holder");

  await holder.go("/setup?kind=provider");
  await page.getByRole("link", { name: "New provider" }).first().click();
  await page.getByLabel("Name *", { exact: true }).fill("acme");
  await page.getByLabel("display_name *").fill("Acme");
  await page.getByLabel("api *").selectOption({ label: "openai" });
  await page.getByLabel("base_url").fill("https://acme.test/v1");
  await page.getByLabel("default_model *").fill("acme/small-1");
  await page.getByRole("button", { name: "Review changes" }).click();
  await page.getByRole("dialog").locator("ins").getByText("base_url: https://acme.test/v1")
    .waitFor();
  await confirm(holder);
  await page.getByRole("heading", { name: "acme", level: 1 }).waitFor();
  await page.getByText("ACME_API_KEY").first().waitFor();
  await picture(page, "settings_provider");

  await page.getByRole("link", { name: "Set the key" }).click();
  await page.getByRole("button", { name: "Set ACME_API_KEY" }).click();
  await page.getByRole("dialog").getByLabel("Key", { exact: true }).fill("sk-canary-acme");
  await assertAccessible(page, "the dialog of a key");
  await picture(page, "settings_key_dialog");
  await confirm(holder);
  await page.getByRole("button", { name: "Replace ACME_API_KEY" }).waitFor();
  await page.getByRole("cell", { name: "provider-holder@example.test" }).waitFor();
  await picture(page, "settings_keys");
  assert.ok(!(await page.content()).includes("sk-canary-acme"), "a key is never shown again");
  const [stored] = await sql`select private.secret_value('ACME_API_KEY') as value`;
  assert.equal(stored?.value, "sk-canary-acme");

  await holder.go("/setup/new/model");
  await page.getByLabel("Name *", { exact: true }).fill("acme/acme/small-1");
  await saveJson(holder, {
    prices: [{ valid_from: "2026-11-01", input_usd_per_mtok: 0.75, output_usd_per_mtok: 4.5 }],
  });
  await holder.go("/setup?kind=model");
  await page.getByText("$0.75 in, $4.5 out per million tokens").first().waitFor();
  const [price] = await sql`
    select output_micro_usd_per_mtok from public.model_prices where model = 'acme/small-1'`;
  assert.equal(Number(price?.output_micro_usd_per_mtok), 4_500_000);

  await holder.go("/setup/new/policy");
  await page.getByLabel("Name *", { exact: true }).fill("acme");
  await page.getByLabel("spending_cap_usd").fill("20");
  await page.getByRole("button", { name: "Review changes" }).click();
  await confirm(holder);
  await page.getByRole("heading", { name: "acme", level: 1 }).waitFor();
  const [policy] = await sql`
    select spending_cap_micro_usd from public.model_policies as policy
    join public.llm_providers as provider on provider.id = policy.provider_id
    where provider.name = 'acme'`;
  assert.equal(Number(policy?.spending_cap_micro_usd), 20_000_000);
  assert.deepEqual(holder.offences, []);
});

consoleTest(
  "prices of the catalog stand beside other prices, and fill the form",
  async (fixture) => {
    const { sql } = fixture.platform;
    await sql`
    update public.model_prices set input_micro_usd_per_mtok = 1 where model = 'gpt-5.4-mini'`;
    await using holder = await fixture.open();
    const { page } = holder;
    await signUpHolder(fixture, holder, "price-holder");
    await holder.go("/setup/model/openai%2Fgpt-5.4-mini");
    await page.getByText("The catalog of this release has other prices").waitFor();
    await picture(page, "settings_price");
    await assertAccessible(page, "a price that differs");
    await page.getByRole("button", { name: "Fill in the catalog's prices" }).click();
    await page.getByRole("button", { name: "Review changes" }).click();
    await confirm(holder);
    await page.getByText("The catalog of this release has the same prices.").waitFor();
    const [price] = await sql`
    select input_micro_usd_per_mtok from public.model_prices as price
    join public.llm_providers as provider on provider.id = price.provider_id
    where provider.name = 'openai' and price.model = 'gpt-5.4-mini'`;
    assert.equal(Number(price?.input_micro_usd_per_mtok), 750_000);
    assert.deepEqual(holder.offences, []);
  },
);

consoleTest(
  "quotas, retention and readers of documents are changed with a plan",
  async (fixture) => {
    const { sql } = fixture.platform;
    await sql`insert into public.projects (slug, github_repo) values ('handbook', 'acme/handbook')`;
    await using holder = await fixture.open();
    const { page } = holder;
    const id = await signUpHolder(fixture, holder, "quota-holder");

    await holder.go("/setup/new/quota");
    await page.getByLabel("Name *", { exact: true }).fill("quota-holder@example.test");
    await page.getByRole("button", { name: "Add running_tasks" }).click();
    await page.getByLabel("running_tasks *", { exact: true }).fill("2");
    await picture(page, "settings_quota");
    await page.getByRole("button", { name: "Review changes" }).click();
    await confirm(holder);
    await page.getByRole("heading", { name: "quota-holder@example.test", level: 1 }).waitFor();
    const [quota] = await sql`select private.quota('running_tasks', ${id}) as amount`;
    assert.equal(Number(quota?.amount), 2);

    await holder.go("/setup/retention/project");
    await page.getByLabel("keep_jobs_days").fill("0");
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.locator(".problem").first().waitFor();
    await page.getByLabel("keep_jobs_days").fill("30");
    await page.getByRole("button", { name: "Review changes" }).click();
    await picture(page, "settings_retention");
    await confirm(holder);
    const [kept] = await sql`select private.retention_days('keep_jobs_days') as days`;
    assert.equal(kept?.days, 30);

    await holder.go("/setup/documents/handbook");
    await page.getByText("/functions/v1/quoth-sync/handbook").waitFor();
    await picture(page, "settings_documents");
    await saveJson(holder, {
      github_repo: "acme/handbook",
      members: ["quota-holder@example.test"],
    });
    const [member] = await sql`
    select count(*)::int as count from public.project_members where user_id = ${id}`;
    assert.equal(member?.count, 1);
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await confirm(holder, "Remove");
    await page.getByText("No document projects yet").waitFor();
    assert.deepEqual(holder.offences, []);
  },
);

consoleTest("a holder grants and withdraws scopes of others, never their own", async (fixture) => {
  const { sql } = fixture.platform;
  await using friend = await fixture.open();
  const friendId = await friend.signUp("scope-friend");
  await using holder = await fixture.open();
  const { page } = holder;
  await signUpHolder(fixture, holder, "scope-holder");
  const scopesOf = async () => {
    const [row] = await sql`select scopes from public.mcp_grants where user_id = ${friendId}`;
    return row?.scopes ?? null;
  };

  await holder.go("/setup?kind=scope");
  const own = page.getByRole("row").filter({ hasText: "scope-holder@example.test" });
  await own.getByText("You").waitFor();
  assert.equal(await own.getByRole("button").count(), 0, "nobody changes their own scopes");
  await picture(page, "settings_scopes");
  await page.getByRole("button", { name: "Grant scopes" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email address of the account").fill("scope-friend@example.test");
  await dialog.getByRole("checkbox", { name: "swarm:operate" }).check();
  assert.equal(await dialog.getByRole("checkbox", { name: "admin:*" }).isDisabled(), true);
  assert.equal(await dialog.getByRole("checkbox", { name: "sql:write" }).isDisabled(), true);
  assert.equal(await dialog.getByRole("button", { name: "Save" }).isDisabled(), true);
  await dialog.getByLabel("Reason").fill("They answer the pager");
  await picture(page, "settings_scope_dialog");
  await assertAccessible(page, "the dialog of scopes");
  await confirm(holder);
  assert.ok((await scopesOf()).includes("swarm:operate"));
  await friend.go("/operations");
  await friend.page.getByRole("heading", { name: "Operations", level: 1 }).waitFor();

  await page.getByRole("button", { name: "Change the scopes of scope-friend" }).click();
  await dialog.getByLabel("Reason").fill("They left");
  await confirm(holder, "Return to the default");
  assert.equal(await scopesOf(), null);
  await holder.go("/operations?view=acts");
  await page.getByText("+swarm:operate").waitFor();
  assert.deepEqual(holder.offences, []);
});

consoleTest("a server is added, and shows who may use it", async (fixture) => {
  const { sql } = fixture.platform;
  await using holder = await fixture.open();
  const { page } = holder;
  await signUpHolder(fixture, holder, "server-holder");
  await holder.go("/setup/new/server");
  await page.getByLabel("Name *", { exact: true }).fill("wiki");
  await saveJson(holder, {
    config: { mcp_url: "https://wiki.test/mcp" },
    credential: { secret: "WIKI_TOKEN", type: "bearer_token" },
    data_flows: { "*": ["reads_outside"] },
  });
  await page.getByRole("heading", { name: "wiki", level: 1 }).waitFor();
  const [tool] = await sql`select id from public.tools where slug = 'wiki'`;
  await addAgent(sql, { slug: "wiki-reader", tools: [{ id: String(tool?.id) }] });
  await page.reload();
  await page.getByRole("tab", { name: "Who may use it" }).click();
  await page.getByText("mcp:wiki").waitFor();
  await page.getByRole("link", { name: "wiki-reader" }).waitFor();
  await page.getByText("reads_outside").waitFor();
  await picture(page, "settings_server_access");
  await holder.go("/setup?kind=key");
  await page.getByRole("button", { name: "Set WIKI_TOKEN" }).waitFor();

  await holder.go("/setup/new/limit");
  await page.getByLabel("Name *", { exact: true }).fill("wiki");
  await page.getByLabel("calls_per_minute").fill("30");
  await page.getByRole("button", { name: "Review changes" }).click();
  await confirm(holder);
  await page.getByRole("heading", { name: "wiki", level: 1 }).waitFor();
  await sql`update public.agents set audience = 'named' where slug = 'wiki-reader'`;
  await holder.go("/setup?kind=audience");
  await page.reload();
  await page.getByRole("link", { name: "agent/wiki-reader" }).click();
  await saveJson(holder, { accounts: ["server-holder@example.test"] });
  const [named] = await sql`
    select count(*)::int as count from public.agent_audience as audience
    join public.agents as agent on agent.id = audience.agent_id where agent.slug = 'wiki-reader'`;
  assert.equal(named?.count, 1);
  assert.deepEqual(holder.offences, []);
});

consoleTest("a definition that a server changed is compared and approved", async (fixture) => {
  const { sql } = fixture.platform;
  const [tool] = await sql`
    insert into public.tools (name, slug, type, config)
    values ('mail', 'mail', 'mcp_server', '{"mcp_url": "https://mail.test/mcp"}') returning id`;
  await sql`
    insert into public.mcp_tools_cache
      (connection_id, tool_name, tool_schema, openai_schema, state, held_definition)
    values (private.ensure_connection(${String(tool?.id)}::uuid, null), 'search',
      '{"description": "Searches mail."}', '{}', 'quarantined', ${
    sql.json({
      hash: "changed",
      schema: { description: "Searches and sends mail." },
      openai_schema: {},
      schema_losses: {},
    })
  })`;
  await using operator = await fixture.open();
  const { page } = operator;
  await grantScopes(sql, await operator.signUp("approver"), ["swarm:operate"]);
  await operator.go("/operations?view=servers");
  await page.getByRole("row").filter({ hasText: "mail" })
    .getByRole("button", { name: "Compare and approve" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("del").getByText("Searches mail.").waitFor();
  await dialog.locator("ins").getByText("Searches and sends mail.").waitFor();
  await picture(page, "settings_approval");
  await assertAccessible(page, "the difference of a definition");
  await confirm(operator, "Approve for all users");
  const [cached] = await sql`
    select state, tool_schema from public.mcp_tools_cache as cached
    join public.agent_mcp_connections as connection on connection.id = cached.connection_id
    where connection.tool_id = ${String(tool?.id)}::uuid`;
  assert.deepEqual(cached, {
    state: "approved",
    tool_schema: { description: "Searches and sends mail." },
  });
  assert.deepEqual(operator.offences, []);
});

consoleTest("a webhook is tried, and a schedule shows its next runs", async (fixture) => {
  const { sql } = fixture.platform;
  await addAgent(sql, { slug: "paged" });
  const received: string[] = [];
  const receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      received.push(JSON.parse(await request.text()).type);
      return new Response(null, { status: 204 });
    },
  );
  try {
    await sql`
      insert into public.webhooks (name, url, events)
      values ('pager', ${`http://127.0.0.1:${receiver.addr.port}/in`}, '{task.failed}')`;
    await using holder = await fixture.open();
    const { page } = holder;
    await signUpHolder(fixture, holder, "webhook-holder");
    await holder.go("/setup/webhook/pager");
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByRole("button", { name: "Send a test event" }).click();
    await page.getByText("delivered").waitFor();
    assert.deepEqual(received, ["webhook.test"]);
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("cell", { name: "2", exact: true }).waitFor();
    assert.deepEqual(received, ["webhook.test", "webhook.test"]);
    await page.getByRole("button", { name: "webhook.test" }).click();
    await picture(page, "settings_deliveries");
    await assertAccessible(page, "the deliveries of a webhook");

    await holder.go("/setup/new/schedule");
    await page.getByLabel("cron *").fill("30 7 * * mon-fri");
    await page.getByRole("heading", { name: "Next 10 runs" }).waitFor();
    await page.getByLabel("time_zone").fill("Europe/Berlin");
    await page.getByRole("columnheader", { name: "Europe/Berlin" }).waitFor();
    await page.locator("time").nth(9).waitFor();
    assert.equal(await page.locator("time").count(), 10);
    await picture(page, "settings_schedule");
    assert.deepEqual(holder.offences, []);
  } finally {
    await receiver.shutdown();
  }
});

const AREAS = [
  "server",
  "limit",
  "provider",
  "model",
  "policy",
  "key",
  "scope",
  "quota",
  "audience",
  "documents",
  "retention",
];

consoleTest("without swarm:configure every area is read only", async (fixture) => {
  await using operator = await fixture.open({ width: 390, scheme: "dark" });
  const { page } = operator;
  await grantScopes(fixture.platform.sql, await operator.signUp("reader-only"), ["swarm:operate"]);
  for (const area of AREAS) {
    await operator.go(`/setup?kind=${area}`);
    await page.getByRole("tab", { selected: true }).last().waitFor();
    await page.locator("table, .empty").first().waitFor();
    const changes = page.getByRole("button", { name: /^(Set|Replace|Delete|Change|Grant|New)/ });
    assert.equal(await changes.count(), 0, area);
    assert.equal(await page.getByRole("link", { name: /^New/ }).count(), 0, area);
    await assertFits(page, area);
    await picture(page, `settings_${area}_390`);
  }
  await operator.go("/setup/provider/openai");
  await page.getByText("swarm:configure").waitFor();
  assert.equal(await page.getByRole("button", { name: "Review changes" }).count(), 0);
  await assertFits(page, "a provider");
  await assertAccessible(page, "a provider that cannot be changed");
  await picture(page, "settings_provider_390");
  assert.deepEqual(operator.offences, []);
});

consoleTest("every area is accessible at each width", async (fixture) => {
  for (const [width, scheme] of [[768, "dark"], [1280, "light"]] as const) {
    await using holder = await fixture.open({ width, scheme });
    const { page } = holder;
    await signUpHolder(fixture, holder, `looker-${width}`);
    for (const area of AREAS) {
      await holder.go(`/setup?kind=${area}`);
      await page.locator("table, .empty").first().waitFor();
      await assertFits(page, area);
      await assertAccessible(page, area);
      await picture(page, `settings_${area}_${width}`);
    }
    assert.deepEqual(holder.offences, []);
  }
});

consoleTest("a user who is no operator sees no settings", async (fixture) => {
  await using user = await fixture.open();
  const { page } = user;
  await user.signUp("plain-user");
  for (const kind of ["scope", "provider"]) {
    await user.go(`/setup?kind=${kind}`);
    await page.reload();
    await page.getByRole("heading", { name: "Only operators see this page" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Setup" }).count(), 0);
  }
});
