import assert from "node:assert/strict";
import { loadYaml } from "../deps.ts";
import { entryOfRegistry } from "./entry_of_registry.ts";
import { readMcpsFile } from "./read_mcps_file.ts";
import { readRegistryDocument } from "./registry_document.ts";
import { addEntry, entryToYaml } from "./write_entry.ts";

const yaml = await loadYaml();

const ANALYTICS = {
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: "com.example/acme-analytics",
  title: "ACME Analytics",
  description: "Reports",
  version: "2.0.0",
  repository: { url: "https://github.com/example/acme", source: "github" },
  remotes: [
    { type: "sse", url: "https://acme.example.com/sse" },
    {
      type: "streamable-http",
      url: "https://{tenant}.acme.example.com/mcp?region={region}&key={key}",
      variables: {
        tenant: { isRequired: true },
        region: { default: "eu" },
        key: { isSecret: true },
      },
      headers: [
        { name: "Authorization", isSecret: true, value: "Token {token}", variables: { token: {} } },
        { name: "X-Org", isRequired: true, description: "Your organisation." },
        { name: "X-Version", value: "2" },
        { name: "X-Trace", description: "For support." },
      ],
    },
  ],
};

function importOf(document: unknown, variables: Record<string, string> = {}, name?: string) {
  const { server } = readRegistryDocument(JSON.stringify(document), name);
  return entryOfRegistry(server, { variables });
}

Deno.test("entryOfRegistry() creates an entry with names in place of secrets", () => {
  const imported = importOf(ANALYTICS, { tenant: "acme" });

  assert.equal(imported.slug, "acme-analytics");
  assert.deepEqual(imported.entry, {
    name: "ACME Analytics",
    description: "Reports",
    url: "https://acme.acme.example.com/mcp",
    docs_url: "https://github.com/example/acme",
    credentials: {
      api_key_env: "ACME_ANALYTICS_MCP_API_KEY",
      authorization_env: "ACME_ANALYTICS_MCP_AUTHORIZATION",
      org_env: "ACME_ANALYTICS_MCP_ORG",
    },
    auth: { in: "query", name: "key" },
    headers: {
      Authorization: "Token {{authorization_env}}",
      "X-Org": "{{org_env}}",
      "X-Version": "2",
    },
    query: { region: "eu" },
  });
  assert.deepEqual(imported.notes, [
    "Omitted the optional header X-Trace (For support).",
    "Add ACME_ANALYTICS_MCP_API_KEY to .env before you sync.",
    "Add ACME_ANALYTICS_MCP_AUTHORIZATION to .env before you sync.",
    "Add ACME_ANALYTICS_MCP_ORG to .env before you sync.",
  ]);
  assert.equal(readMcpsFile(entryToYaml(imported, yaml), "x", yaml).length, 1);
});

Deno.test("entryOfRegistry() reads a bare Authorization header as a bearer token", () => {
  const headers = [{ name: "Authorization", isSecret: true, isRequired: true }];
  const remotes = [{ type: "streamable-http", url: "https://n.example.com/mcp", headers }];

  const { entry } = importOf({ name: "com.example/notes", remotes });
  assert.deepEqual(entry.auth, { in: "header", name: "Authorization", prefix: "Bearer " });
  assert.deepEqual(entry.credentials, { token_env: "NOTES_MCP_TOKEN" });
});

Deno.test("entryOfRegistry() gives each secret a distinct name, whatever the headers' names", () => {
  const names = ["Authorization", "X-Token", "token", "X-API-Key", "Api_Key", "api-key"];
  const headers = names.map((name) => ({ name, isSecret: true }));
  const remotes = [{ type: "streamable-http", url: "https://n.example.com/mcp", headers }];

  const imported = importOf({ name: "com.example/notes", remotes });

  assert.deepEqual(imported.entry.credentials, {
    token_env: "NOTES_MCP_TOKEN",
    token_2_env: "NOTES_MCP_TOKEN_2",
    token_3_env: "NOTES_MCP_TOKEN_3",
    api_key_2_env: "NOTES_MCP_API_KEY_2",
    api_key_3_env: "NOTES_MCP_API_KEY_3",
    api_key_4_env: "NOTES_MCP_API_KEY_4",
  });
  assert.equal(readMcpsFile(entryToYaml(imported, yaml), "x", yaml).length, 1);
});

Deno.test("entryOfRegistry() derives the credential's name from auth", () => {
  const headers = [
    { name: "X-Token", isRequired: true },
    { name: "X-Org-Key", isSecret: true },
    { name: "X-API-Key", isSecret: true },
  ];
  const remotes = [{ type: "streamable-http", url: "https://n.example.com/mcp", headers }];

  const imported = importOf({ name: "com.example/notes", remotes });

  assert.deepEqual(imported.entry.auth, { in: "header", name: "X-Org-Key" });
  assert.deepEqual(imported.entry.headers, {
    "X-Token": "{{token_2_env}}",
    "X-API-Key": "{{api_key_2_env}}",
  });
  assert.equal(readMcpsFile(entryToYaml(imported, yaml), "x", yaml).length, 1);
});

Deno.test("entryOfRegistry() requests a value for each variable of the address", () => {
  assert.throws(() => importOf(ANALYTICS), /needs \{tenant\}\. Pass --set tenant=VALUE/);
});

for (
  const { registryType, version, says } of [
    { registryType: "npm", version: "1.2.3", says: "npx -y acme@1.2.3" },
    { registryType: "pypi", version: "1.2.3", says: "uvx acme==1.2.3" },
    { registryType: "oci", version: "1.2.3", says: "docker run -i --rm acme:1.2.3" },
  ]
) {
  Deno.test(`entryOfRegistry() explains how to bridge a server of ${registryType}`, () => {
    const environmentVariables = [{ name: "ACME_KEY", isRequired: true }, { name: "LEVEL" }];
    const packages = [{ registryType, identifier: "acme", version, environmentVariables }];

    assert.throws(() => importOf({ name: "com.example/acme", packages }), (error: Error) => {
      assert.ok(error.message.includes(`--server stream -- ${says}\n    with ACME_KEY in`));
      assert.match(error.message, /--host 127\.0\.0\.1 .*\n.*\n.*url: http:\/\/127\.0\.0\.1:/);
      return true;
    });
  });
}

Deno.test("entryOfRegistry() builds no command line from a name that is more than one word", () => {
  const packages = [{ registryType: "npm", identifier: "acme; rm -rf ~" }];

  assert.throws(() => importOf({ name: "com.example/acme", packages }), (error: Error) => {
    assert.ok(!error.message.includes("npx -y acme") && error.message.includes('"acme; rm -rf ~"'));
    return true;
  });
});

Deno.test("readRegistryDocument() reads a registry's answers, and the latest of several versions", () => {
  const item = (name: string, title: string, isLatest: boolean) => ({
    server: { ...ANALYTICS, name, title },
    _meta: { "io.modelcontextprotocol.registry/official": { status: "active", isLatest } },
  });
  const servers = [item("a/x", "new", true), item("a/x", "old", false)];

  assert.equal(readRegistryDocument(JSON.stringify({ servers }), undefined).server.title, "new");
  assert.equal(readRegistryDocument(JSON.stringify(servers[1]), undefined).status, "active");
  const two = JSON.stringify({ servers: [...servers, item("a/y", "other", true)] });
  assert.throws(() => readRegistryDocument(two, undefined), /with --server: a\/x, a\/y/);
  assert.equal(readRegistryDocument(two, "a/y").server.title, "other");
  assert.throws(() => readRegistryDocument(two, "a/z"), /no server 'a\/z'; it has: a\/x, a\/y/);
});

Deno.test("readRegistryDocument() refuses a document that is not a description", () => {
  assert.throws(() => readRegistryDocument("<html>", undefined), /it is not valid JSON/);
  assert.throws(
    () => readRegistryDocument('{"name":"a","remotes":[{"transport_type":"sse"}]}', undefined),
    /server 1 .*2025-09 or later \(remotes\.0\.type/,
  );
});

Deno.test("addEntry() keeps comments and existing entries, and refuses a duplicate key", () => {
  const imported = importOf(ANALYTICS, { tenant: "acme" });
  const before = "# Ours\nmcps:\n  # first\n  notes:\n    name: 'Notes'\n" +
    "    url: https://n.example.com # here\n";

  const after = addEntry(before, "x.yaml", imported, yaml);
  assert.ok(after.startsWith(before));
  const slugs = (text: string) => readMcpsFile(text, "x.yaml", yaml).map(({ slug }) => slug);
  assert.deepEqual(slugs(after), ["notes", "acme-analytics"]);
  assert.deepEqual(slugs(addEntry("mcps:\n", "x.yaml", imported, yaml)), ["acme-analytics"]);
  assert.deepEqual(slugs(addEntry("mcps: {}\n", "x.yaml", imported, yaml)), ["acme-analytics"]);
  assert.throws(
    () => addEntry(after, "x.yaml", imported, yaml),
    /'acme-analytics': .* already has this entry/,
  );
});
