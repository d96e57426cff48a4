import assert from "node:assert/strict";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { SYSTEM_TOOL_ARGUMENTS } from "../../shared/engine/agent/system_tools.ts";
import { REDACTED } from "../../shared/platform/secrets/redact.ts";
import { findExposures, type SearchedText } from "../../scripts/demo/find_exposures.ts";
import {
  created,
  type EndpointAnswer,
  sendRequest,
  userHeaders,
} from "../e2e/create_task_endpoint.ts";
import { addAgent, addProvider, addTool, grantToEveryone } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { completeWithResults, scriptTurns } from "../e2e/script.ts";
import { readSteps, readTask } from "../e2e/task_view.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { TABLE_RULES } from "./access_rules.ts";
import { type Cast, castOf } from "./cast.ts";
import { readRelations } from "./catalogue.ts";
import { type Canary, type EchoServers, hatch, startEchoServers } from "./echo_servers.ts";

const NO_ARGUMENTS = { type: "object", properties: {} } as const;
/** A port on which nothing listens: the runtime's error contains the whole address. */
const CLOSED = "http://127.0.0.1:9";

Deno.test("no secret is stored, logged, broadcast, returned or shown to a model", async (t) => {
  const gate = Promise.withResolvers<void>();
  await using servers = startEchoServers(gate.promise);
  await using platform = await bootPlatform();
  await using cast = await castOf(platform);
  const { sql, stack, logLines } = platform;

  const canaries = [
    ...await addLeakyTools(platform, servers),
    ...await addLeakyProviders(platform, servers),
  ];
  const answers: EndpointAnswer["body"][] = [];
  canaries.push(...await setOwnSecrets(cast, answers));
  stack.models.addAgent(scriptTurns(
    "canary",
    async ({ toolNames }) => {
      await gate.promise;
      const names = toolNames.filter((name) => !Object.hasOwn(SYSTEM_TOOL_ARGUMENTS, name));
      return { toolCalls: names.map((name) => ({ name, arguments: {} })) };
    },
    completeWithResults,
  ));

  const taskIds: string[] = [];
  const broadcasts: string[] = [];
  for (const agent of ["canary", "says", "refuses-openai", "refuses-anthropic", "refuses-google"]) {
    const headers = userHeaders(platform.project, cast.owner);
    const answer = await sendRequest(platform.project, { body: { agent, input: "Go" }, headers });
    answers.push(answer.body);
    const { task_id, channels } = created(answer);
    taskIds.push(task_id);
    await recordBroadcasts(cast, channels.master, broadcasts);
  }
  gate.resolve();
  for (const id of taskIds) {
    await waitFor(async () => isOver((await readTask(sql, id)).status));
  }

  await t.step("every secret reached its server, and came back in the run", async () => {
    const heard = servers.heard();
    const unsent = canaries.filter(({ core }) => !heard.includes(core)).map(({ name }) => name);
    // Two are overridden by the user's own, and two belong to servers that do not exist.
    assert.deepEqual(unsent.sort(), ["gone", "mcp-gone", "organisation", "refuses-openai"]);
    for (const id of taskIds) {
      const seen = JSON.stringify([await readTask(sql, id), await readSteps(sql, id)]);
      assert.ok(seen.includes(REDACTED), `${id} returned no secret: ${seen.slice(0, 2_000)}`);
    }
    assert.ok(broadcasts.length > 10, "broadcasts exist");
  });

  await t.step("the export of failures and grades is written", async () => {
    const [graded] = await sql<{ token: string }[]>`
      select feedback_token::text as token from public.mcp_executions
      where user_id = ${cast.owner.id}::uuid and status <> 'success' limit 1`;
    const grade = { feedback_token: graded?.token, rating: "down", comment: "It showed me a key" };
    const headers = userHeaders(platform.project, cast.owner);
    const endpoints = [
      { endpoint: "/functions/v1/mcp-feedback", body: grade, headers },
      {
        endpoint: "/functions/v1/supaswarm-export",
        body: {},
        headers: { apikey: stack.secretKey },
      },
    ];
    for (const request of endpoints) {
      const answer = await sendRequest(platform.project, request);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      answers.push(answer.body);
    }
  });

  await t.step("no secret is found anywhere", async () => {
    const texts: SearchedText[] = [
      { where: "logs", text: logLines.join("\n") },
      { where: "broadcasts", text: broadcasts.join("\n") },
      { where: "answers of functions and RPCs", text: JSON.stringify(answers) },
      ...await readEverything(platform, cast),
      ...await readFiles(platform, cast),
      ...stack.models.journal.entries().map(({ body, agent }) => (
        { where: `a model request of ${agent}`, text: body }
      )),
    ];
    const secrets = [
      ...canaries.flatMap(({ core }) => [core, ...base64Of(core)]),
      stack.secretKey,
      cast.owner.accessToken,
    ];
    assert.deepEqual(await findExposures(sql, secrets, texts), []);
  });
});

/** Tools of every kind that use a secret, all assigned to one agent. */
async function addLeakyTools({ sql }: Platform, { url }: EchoServers): Promise<Canary[]> {
  const canaries: Canary[] = [];
  const tools: { readonly id: string }[] = [];
  const http = (path: string, auth?: JsonObject): JsonObject => ({
    method: "GET",
    url: path,
    parameters: NO_ARGUMENTS,
    ...definedOnly({ auth }),
  });
  const inQuery = { in: "query", name: "key" };
  const bearer = { in: "header", name: "authorization", prefix: "Bearer " };
  const rows = [
    ["header", "http_api", http(`${url}/echo`)],
    ["organisation", "http_api", http(`${url}/echo`)],
    ["php", "http_api", http(`${url}/php`)],
    ["dotnet", "http_api", http(`${url}/dotnet`)],
    ["html", "http_api", http(`${url}/html`)],
    ["query", "http_api", http(`${url}/fail`, inQuery)],
    ["broken", "http_api", http(`${url}/break`, inQuery)],
    ["gone", "http_api", http(CLOSED, inQuery)],
    ["mcp", "mcp_server", { mcp_url: `${url}/mcp`, auth: bearer }],
    ["mcp-gone", "mcp_server", { mcp_url: `${CLOSED}/mcp`, auth: inQuery }],
  ] as const;
  for (const [name, type, config] of rows) {
    const canary = hatch(name);
    const secret = { name: `CANARY_${name.toUpperCase()}`, value: canary.value };
    tools.push({ id: await addTool(sql, { slug: `leaky-${name}`, type, config, secret }) });
    canaries.push(canary);
  }
  await addAgent(sql, { slug: "canary", tools });
  await grantToEveryone(sql, tools.map(({ id }) => id));
  return canaries;
}

/** Providers that reveal their key, each with an agent of the same name. */
async function addLeakyProviders({ sql }: Platform, { url }: EchoServers): Promise<Canary[]> {
  const canaries: Canary[] = [];
  const apis = [
    ["says", "openai"],
    ["refuses-openai", "openai"],
    ["refuses-anthropic", "anthropic"],
    ["refuses-google", "google"],
  ] as const;
  for (const [name, api] of apis) {
    const canary = hatch(name);
    const secretName = `CANARY_${name.toUpperCase()}`;
    const endpoint = name === "says" ? "says" : "refuses";
    await sql`select vault.create_secret(${canary.value}, ${secretName})`;
    await addProvider(sql, { name, baseUrl: `${url}/${endpoint}/v1`, secretName });
    await sql`update public.llm_providers set api = ${api} where name = ${name}`;
    await addAgent(sql, { slug: name, provider: name });
    canaries.push(canary);
  }
  return canaries;
}

/** The owner's own credentials, and refused ones, whose errors must not repeat them. */
async function setOwnSecrets(
  { owner: { client } }: Cast,
  answers: unknown[],
): Promise<readonly Canary[]> {
  const [toolKey, providerKey] = [hatch("own-tool"), hatch("own-provider")];
  const good = await Promise.all([
    client.rpc("set_tool_credential", {
      p_tool_slug: "leaky-organisation",
      p_secret: toolKey.value,
    }),
    client.rpc("set_provider_key", { p_provider: "refuses-openai", p_secret: providerKey.value }),
  ]);
  const bad = await Promise.all([
    client.rpc("set_tool_credential", {
      p_tool_slug: "leaky-header",
      p_secret: `${toolKey.value}\n`,
    }),
    client.rpc("set_tool_credential", { p_tool_slug: "nothing", p_secret: toolKey.value }),
    client.rpc("set_provider_key", { p_provider: "nobody", p_secret: providerKey.value }),
    client.rpc("set_provider_key", { p_secret: providerKey.value }),
  ]);
  answers.push(good, bad);
  assert.deepEqual(good.map(({ error }) => error), [null, null]);
  assert.ok(bad.every(({ error }) => error !== null));
  return [toolKey, providerKey];
}

async function recordBroadcasts({ owner }: Cast, topic: string, into: string[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    owner.client.channel(topic, { config: { private: true } })
      .on("broadcast", { event: "*" }, (message) => into.push(JSON.stringify(message)))
      .subscribe((status) => status === "SUBSCRIBED" ? resolve() : reject(new Error(status)));
  });
}

/** Ended or waiting for a retry: a provider's refusal is final, an interrupted answer is not. */
function isOver(status: string): boolean {
  return ["completed", "failed", "needs_human_review"].includes(status);
}

/** Everything that the REST API returns to the owner and the service. */
async function readEverything({ sql }: Platform, cast: Cast): Promise<SearchedText[]> {
  const texts: SearchedText[] = [];
  for (const { name, columns } of await readRelations(sql)) {
    const hidden = TABLE_RULES[name]?.hidden ?? [];
    const visible = columns.filter((column) => !hidden.includes(column)).join(",");
    const owners = await cast.owner.client.from(name).select(visible);
    const services = await cast.service.from(name).select();
    texts.push({ where: `answers about ${name}`, text: JSON.stringify([owners, services]) });
  }
  return texts;
}

/** Every file in Storage. */
async function readFiles({ sql }: Platform, { service }: Cast): Promise<SearchedText[]> {
  const objects = await sql<{ bucket: string; path: string }[]>`
    select bucket_id as bucket, name as path from storage.objects`;
  assert.ok(objects.length > 0, "a long answer was stored as a file");
  return await Promise.all(objects.map(async ({ bucket, path }) => {
    const { data } = await service.storage.from(bucket).download(path);
    return { where: `file ${path}`, text: await data?.text() ?? "" };
  }));
}

/** The beginnings of the text in base64, for each offset in the groups of three bytes. */
function base64Of(text: string): string[] {
  return [0, 1, 2].map((skipped) => btoa(text.slice(skipped, skipped + 24)));
}
