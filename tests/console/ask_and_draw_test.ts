import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  type ConsoleFixture,
  openConsoleFixture,
  picture,
} from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

/** The model of `generate_sql` answers every question with this statement. */
async function answerWith({ platform }: ConsoleFixture, model: string, sql: string): Promise<void> {
  platform.stack.models.addAgent(scriptTurns(model, { text: `\`\`\`sql\n${sql}\n\`\`\`` }));
  await platform.sql`
    update public.mcp_tool_models set default_provider = 'demo', default_model = ${model},
      supported_providers = '{demo}'
    where mcp_name = 'supabase' and tool_name = 'generate_sql'`;
}

consoleTest("one press asks, runs and draws a line for each category", async (fixture) => {
  const { sql } = fixture.platform;
  await sql.unsafe(`
    create table public.orders (placed_at date not null, country text not null, total numeric(10, 2));
    alter table public.orders enable row level security;
    create policy "everybody" on public.orders for select to authenticated using (true);
    grant select on public.orders to authenticated;
    insert into public.orders
    select date '2026-08-31' + week * 7 + n % 7, country, 12.50 + n
    from generate_series(0, 12) as week, unnest('{DE,EG,JP}'::text[]) with ordinality as c (country, place),
      generate_series(1, (20 + week * 3 / place)::int) as n`);
  await answerWith(
    fixture,
    "chart-writer",
    "select date_trunc('week', placed_at)::date as week, country, count(*) as orders, " +
      "sum(total) as revenue from public.orders group by 1, 2 order by 1, 2",
  );
  await using reader = await fixture.open({ width: 1440 });
  const { page } = reader;
  await grantScopes(sql, await reader.signUp("charting-analyst"), ["sql:read"]);

  await reader.go("/sql");
  await page.getByLabel("Question in plain English").fill("how many orders per week by country");
  await page.keyboard.press("Enter");

  const chart = page.getByRole("region", { name: "Chart" });
  const drawing = chart.getByRole("img", {
    name: /^orders by week and country: 3 series over 13 places\. The highest is DE, 2026-11-23/,
  });
  await drawing.waitFor();
  const legend = chart.getByRole("list", { name: "Series" }).getByRole("button");
  assert.deepEqual(await legend.allTextContents(), ["DE", "EG", "JP"]);
  for (
    const [label, value] of [["Type", "lines"], ["X", "0"], ["Y", "2"], ["Split by", "1"]] as const
  ) {
    assert.equal(await chart.getByLabel(label, { exact: true }).inputValue(), value, label);
  }
  await assertAccessible(page, "a chart of lines");
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 1_000 });
      await assertFits(page, `the chart at ${width} px`);
      await chart.scrollIntoViewIfNeeded();
      await picture(page, `chart_lines_${width}_${scheme}`);
      await chart.getByLabel("Type").selectOption("stacked");
      await picture(page, `chart_stacked_${width}_${scheme}`);
      await chart.getByLabel("Type").selectOption("bars");
      await picture(page, `chart_grouped_${width}_${scheme}`);
      await chart.getByLabel("Type").selectOption("lines");
    }
  }
  await page.setViewportSize({ width: 1440, height: 1_000 });

  // The keyboard reads the values of each place.
  await drawing.focus();
  await page.keyboard.press("ArrowRight");
  await chart.getByRole("status").getByText("2026-08-31: DE 20, EG 20, JP 20").waitFor();
  await page.keyboard.press("End");
  await chart.getByRole("status").getByText(/^2026-11-23: DE 56, EG \d+, JP \d+$/).waitFor();
  await legend.first().press("Enter");
  await page.getByRole("button", { name: "DE", pressed: false }).waitFor();

  // The reader chooses what is drawn.
  await chart.getByLabel("Y", { exact: true }).selectOption({ label: "revenue" });
  await chart.getByRole("img", { name: /^revenue by week and country: 3 series/ }).waitFor();
  await chart.getByLabel("Split by").selectOption({ label: "Nothing" });
  await chart.getByRole("img", { name: /^revenue by week: 13 points/ }).waitFor();
  await chart.getByText("Several rows have the same place: revenue is added up.").waitFor();
  await chart.getByLabel("X", { exact: true }).selectOption({ label: "country" });
  await chart.getByLabel("Type").selectOption("bars");
  await chart.getByRole("img", { name: /^revenue by country: 3 bars/ }).waitFor();
  await chart.getByText("Data of the chart").click();
  await chart.getByRole("columnheader", { name: "country" }).waitFor();
  await assertAccessible(page, "a chart of bars with its table");
  await picture(page, "chart_bars_1440_dark");

  // A run by hand shows the rows.
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("tab", { name: "Table", selected: true }).waitFor();
  assert.deepEqual(reader.offences, []);
});

consoleTest("a question whose statement writes asks for confirmation first", async (fixture) => {
  const { sql } = fixture.platform;
  await sql.unsafe(`
    create table public.lamps (id int primary key, is_on boolean not null default true);
    alter table public.lamps enable row level security;
    create policy "everybody" on public.lamps for all to authenticated using (true);
    grant select, update on public.lamps to authenticated;
    insert into public.lamps (id) values (1)`);
  await answerWith(fixture, "lamp-writer", "update public.lamps set is_on = false where id = 1");
  await using reader = await fixture.open();
  const { page } = reader;
  await grantScopes(sql, await reader.signUp("lamp-keeper"), ["sql:read", "sql:write"]);

  await reader.go("/sql");
  await page.getByLabel("Question in plain English").fill("Switch the lamp off");
  await page.getByRole("button", { name: "Ask" }).click();

  await page.getByRole("dialog").getByText("Run this write?").waitFor();
  const [lamp] = await sql`select is_on from public.lamps`;
  assert.equal(lamp?.is_on, true, "nothing is written before the confirmation");
  assert.deepEqual(reader.offences, []);
});
