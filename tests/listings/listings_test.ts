import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import { loadYaml } from "../../scripts/deps.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { splitFrontMatter } from "../../shared/engine/skills/split_front_matter.ts";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { connectSdkClient } from "../gateway/mcp/sdk_client.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import {
  agentPlugin,
  agentPluginServers,
  agentSkill,
  bootstrapSamples,
  claudePlugin,
  cursorPlugin,
  marketplace,
  registryServer,
} from "./official_forms.ts";

const FORMS = {
  "server.json": registryServer,
  "plugin/plugin.json": agentPlugin,
  "plugin/mcp.json": agentPluginServers,
  "plugin/.claude-plugin/plugin.json": claudePlugin,
  "plugin/.cursor-plugin/plugin.json": cursorPlugin,
  ".claude-plugin/marketplace.json": marketplace,
  ".cursor-plugin/marketplace.json": marketplace,
  "examples/samples.json": bootstrapSamples,
} as const;
const REPOSITORY = "https://github.com/supaswarm/supaswarm";

const readText = (path: string) => Deno.readTextFile(join(PROJECT_ROOT, path));
const readJson = async (path: string): Promise<unknown> => JSON.parse(await readText(path));
const exists = (path: string) => Deno.stat(join(PROJECT_ROOT, path)).then(() => true, () => false);

for (const [path, form] of Object.entries(FORMS)) {
  Deno.test(`${path} has its official form, and no other field`, async () => {
    const value = await readJson(path);

    assert.deepEqual(form.parse(value), value);
  });
}

Deno.test("every listing names the same version and repository", async () => {
  const named = z.object({ version: z.string().optional() });
  for (const path of Object.keys(FORMS)) {
    const { version = SCHEMA_VERSION } = named.parse(await readJson(path));
    const repositories = (await readText(path)).match(/https:\/\/github\.com\/[^/"]+\/[^/"]+/g);

    assert.equal(version, SCHEMA_VERSION, path);
    assert.deepEqual((repositories ?? []).filter((url) => url !== REPOSITORY), [], path);
  }
});

Deno.test("every folder that a listing names has what its reader looks for", async () => {
  for (const path of [".claude-plugin", ".cursor-plugin"]) {
    const { plugins } = marketplace.parse(await readJson(`${path}/marketplace.json`));
    for (const { name, source } of plugins) {
      const manifest = join(source, path, "plugin.json");
      assert.equal(z.object({ name: z.string() }).parse(await readJson(manifest)).name, name);
    }
  }
  const { samples } = bootstrapSamples.parse(await readJson("examples/samples.json"));
  for (const { url } of samples) {
    const folder = url.replace(/^.*\/tree\/main\/?/, "");
    for (const file of ["supabase/config.toml", "supabase/migrations", ".env.example"]) {
      assert.ok(await exists(join(folder, file)), `${url}: ${file}`);
    }
  }
});

Deno.test("the variables of the registry's address are those that it declares", async () => {
  const { remotes } = registryServer.parse(await readJson("server.json"));
  for (const { url, variables } of remotes) {
    const used = [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(used.sort(), Object.keys(variables).sort());
    for (const [name, { isRequired, default: value }] of Object.entries(variables)) {
      assert.ok(isRequired !== (value !== undefined), `${name} is required or has a default`);
    }
  }
});

Deno.test("the skill follows the Agent Skills standard, and its links have targets", async () => {
  const folder = "plugin/skills/supaswarm";
  const text = await readText(`${folder}/SKILL.md`);
  const { parse } = await loadYaml();

  const { name } = agentSkill.parse(parse(splitFrontMatter(text, folder).yaml));

  assert.equal(name, "supaswarm", "the name of its folder");
  assert.ok(text.split("\n").length < 500, "an agent reads it whole");
  for (const page of [`${folder}/SKILL.md`, "plugin/README.md"]) {
    for (const [, target = ""] of (await readText(page)).matchAll(/\]\(([^)\s:]+)\)/g)) {
      assert.ok(await exists(join(dirname(page), target)), `${page}: ${target}`);
    }
  }
});

Deno.test("an MCP client that fills the listings' variables reaches the tools", async () => {
  await using platform = await sharedPlatform();
  const { user } = await platform.addUser("listings");
  const { apiUrl } = platform.project;
  const token = user.accessToken;
  const servers = [
    await commonServer(apiUrl, token),
    await configuredServer("plugin/.claude-plugin/plugin.json", {
      "user_config.url": apiUrl,
      "user_config.token": token,
    }),
    await configuredServer("plugin/.cursor-plugin/plugin.json", {
      "env:SUPASWARM_URL": apiUrl,
      "env:SUPASWARM_TOKEN": token,
    }),
    await registryAddress(apiUrl, token),
  ];
  for (const server of servers) {
    await using connected = await connectSdkClient(server);
    const { tools } = await connected.client.listTools();

    assert.ok(tools.some(({ name }) => name === "create_task"), server.url);
  }
});

type Server = Parameters<typeof connectSdkClient>[0];

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** The common form has the address of `supaswarm dev`, and leaves the sign-in to its client. */
async function commonServer(apiUrl: string, token: string): Promise<Server> {
  const { mcpServers } = agentPluginServers.parse(await readJson("plugin/mcp.json"));
  const { url = "" } = mcpServers["supaswarm"] ?? {};
  return { url: url.replace("http://127.0.0.1:54321", apiUrl), headers: bearer(token) };
}

async function configuredServer(
  path: string,
  values: Readonly<Record<string, string>>,
): Promise<Server> {
  const { mcpServers } = z.object({ mcpServers: claudePlugin.shape.mcpServers })
    .parse(await readJson(path));
  const filled = JSON.stringify(mcpServers["supaswarm"])
    .replaceAll(/\$\{([\w:.]+)\}/g, (_, name: string) => {
      assert.ok(name in values, `${path}: ${name} has a value`);
      return values[name] ?? "";
    });
  return JSON.parse(filled);
}

async function registryAddress(apiUrl: string, token: string): Promise<Server> {
  const { remotes: [remote] } = registryServer.parse(await readJson("server.json"));
  const url = (remote?.url ?? "").replace("https://{project_ref}.supabase.co", apiUrl)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => remote?.variables[name]?.default ?? "");
  return { url, headers: bearer(token) };
}
