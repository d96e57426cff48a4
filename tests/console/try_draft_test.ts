import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { startExternalServer } from "../gateway/mcp/external_server.ts";
import { startHttpServer } from "../gateway/tools/http_fixture.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, pictures } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("a tool runs in its form before it is saved", async (fixture) => {
  const api = startHttpServer(({ url }) =>
    url.pathname === "/broken"
      ? Response.json({ message: "No such article" }, { status: 404 })
      : Response.json({ found: `${url.searchParams.get("q")} leaves` })
  );
  const { sql } = fixture.platform;
  await using author = await fixture.open();
  const { page } = author;
  const id = await author.signUp("draft-author");
  await grantScopes(sql, id, ["swarm:operate", "swarm:configure"]);
  const write = async (path: string) => {
    await page.getByRole("tab", { name: "JSON" }).first().click();
    await page.getByLabel("Settings as JSON").fill(JSON.stringify({
      type: "http_api",
      description: "Finds articles",
      config: {
        method: "GET",
        url: `${api.url}${path}`,
        parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
      },
    }));
  };

  await author.go("/setup/new/tool");
  await page.getByRole("tab", { name: "Try it" }).click();
  await page.getByText("Enter a name").waitFor();
  await page.getByLabel("Name *", { exact: true }).fill("articles");
  await write("/search");
  await page.getByRole("tab", { name: "Try it" }).click();
  await page.getByLabel("q *").fill("tea");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const result = page.locator("[data-result]");
  await result.getByText("Succeeded").waitFor();
  await result.getByText("tea leaves").first().waitFor();
  await assertAccessible(page, "a tried draft");
  await pictures(page, "try_draft");
  await page.setViewportSize({ width: 360, height: 800 });
  await assertFits(page, "a tried draft");
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole("tab", { name: "Edit" }).click();
  await write("/broken");
  await page.getByRole("tab", { name: "Try it" }).click();
  await page.getByLabel("q *").fill("tea");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await result.getByText("Failed", { exact: true }).waitFor();
  await result.getByText("No such article").first().waitFor();

  assert.deepEqual([...await sql`select 1 from public.tools where slug = 'articles'`], []);
  await author.go("/calls");
  await page.getByText("Try of a draft").first().waitFor();
  await author.go("/operations?view=acts");
  await page.getByText("tried the").first().waitFor();
  assert.deepEqual(author.offences, []);
  await api.stop();
});

consoleTest("a server shows its tools before it is saved, and one is chosen", async (fixture) => {
  await using external = await startExternalServer();
  await using author = await fixture.open();
  const { page } = author;
  const id = await author.signUp("server-author");
  await grantScopes(fixture.platform.sql, id, ["swarm:operate", "swarm:configure"]);
  await author.go("/setup/new/server");
  await page.getByLabel("Name *", { exact: true }).fill("sketchbook");
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByLabel("Settings as JSON").fill(
    JSON.stringify({ config: { mcp_url: external.url } }),
  );
  await page.getByRole("tab", { name: "Try it" }).click();
  await page.getByRole("button", { name: /^picture/ }).click();
  await page.getByLabel("of *").fill("cat");
  await pictures(page, "try_server");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("[data-result]").getByText("Succeeded").waitFor();
  assert.deepEqual(author.offences, []);
});
