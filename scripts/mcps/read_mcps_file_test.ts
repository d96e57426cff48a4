import assert from "node:assert/strict";
import { join } from "node:path";
import { loadYaml } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { fileProblems } from "../yaml/file_problems.ts";
import { readMcpsFile } from "./read_mcps_file.ts";
import { wantedServer } from "../../shared/gateway/mcps_file/wanted_server.ts";

const yaml = await loadYaml();
const read = (text: string) => readMcpsFile(text, "mcps.yaml", yaml);
const problemsOf = (text: string) => fileProblems(() => read(text));

/** A file with one entry, starting at its third line. */
const entry = (...lines: string[]) =>
  ["mcps:", "  notes:", ...lines.map((line) => `    ${line}`), ""].join("\n");
const GOOD = ["name: Notes", "url: https://notes.example.com/mcp"];

Deno.test("readMcpsFile() reads an entry with everything that a server needs", () => {
  const [notes, ...others] = read(entry(
    ...GOOD,
    "type: external",
    "transport: streamable-http",
    "docs_url: https://github.com/example/notes",
    "credentials: {token_env: NOTES_TOKEN, org_env: NOTES_ORG}",
    "auth: {in: header, name: Authorization, prefix: 'Bearer '}",
    "headers: {X-Org: '{{org_env}}', X-Region: eu}",
    "query: {version: '2'}",
    "allowed_tools: [search]",
    "capabilities: [note_taking]",
    "timeout_ms: 5000",
  ));

  assert.equal(others.length, 0);
  assert.deepEqual([notes?.slug, notes?.line, notes?.credentialLine("org_env")], ["notes", 2, 8]);
  assert.deepEqual(notes?.entry.headers, { "X-Org": "{{org_env}}", "X-Region": "eu" });
  assert.equal(notes?.entry.enabled, true);
});

Deno.test("readMcpsFile() accepts a list whose entries are all commented out", () => {
  assert.deepEqual(read("mcps:\n#  notes:\n"), []);
});

Deno.test("the project's own file names two servers, which are inactive and ready to use", async () => {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, "external-mcps.yaml"));
  const enabled = text.replaceAll("enabled: false", "enabled: true");

  const shipped = read(text).map(({ slug, entry }) => [slug, entry.enabled]);
  assert.deepEqual(shipped, [["github", false], ["slack", false]]);
  const rows = read(enabled).map((entry) => wantedServer(entry).row);
  assert.deepEqual(rows.map((row) => row?.credential_secret_name), [
    "supaswarm/mcp/github/api_key",
    "supaswarm/mcp/slack/token",
  ]);
});

Deno.test("wantedServer() names a client's secret as a Vault secret", () => {
  const text = entry(
    ...GOOD,
    "credentials: {client_secret_env: NOTES_SECRET}",
    "oauth: {client_id: us, client_secret: '{{client_secret_env}}', scope: read}",
  );

  const [row] = read(text).map((notes) => wantedServer(notes).row);
  assert.deepEqual(row?.config.oauth, {
    client_id: "us",
    client_secret: { secret: "supaswarm/mcp/notes/client_secret" },
    scope: "read",
  });
  assert.equal(row?.credential_secret_name, null);
});

const BAD: readonly { claim: string; text: string; message: RegExp }[] = [
  {
    claim: "an empty file, which would remove every server",
    text: "# nothing\n",
    message: /^mcps\.yaml:1: the file: /,
  },
  {
    claim: "broken YAML",
    text: "mcps:\n  notes: [\n",
    message: /^mcps\.yaml:[23]: /,
  },
  {
    claim: "a duplicate key",
    text: entry(...GOOD, "name: Other"),
    message: /^mcps\.yaml:5: .*unique/,
  },
  {
    claim: "an unknown tag",
    text: entry(...GOOD, "description: !env NAME"),
    message: /^mcps\.yaml:5: .*tag/i,
  },
  {
    claim: "an unknown top-level key",
    text: "servers: {}\nmcps: {}\n",
    message: /^mcps\.yaml:1: servers: unknown key; there are: mcps$/,
  },
  {
    claim: "an unknown key in an entry, and offers the nearest",
    text: entry(...GOOD, "timeout: 5"),
    message: /^mcps\.yaml:5: mcps\.notes\.timeout: unknown key; did you mean timeout_ms\?$/,
  },
  {
    claim: "an unknown key in auth",
    text: entry(
      ...GOOD,
      "credentials: {token_env: T}",
      "auth: {in: header, name: X, prefx: y}",
    ),
    message: /^mcps\.yaml:6: mcps\.notes\.auth\.prefx: unknown key; did you mean prefix\?$/,
  },
  {
    claim: "a slug that no address can contain",
    text: "mcps:\n  My Notes: {name: N, url: 'https://n.example.com'}\n",
    message: /^mcps\.yaml:2: mcps\.My Notes: a server's key has at most 63 lowercase/,
  },
  { claim: "no name", text: entry("url: https://n.example.com"), message: /^mcps\.yaml:2: .*name/ },
  {
    claim: "no url",
    text: entry("name: Notes"),
    message: /^mcps\.yaml:2: mcps\.notes: has no url; .*enabled: false$/,
  },
  {
    claim: "an invalid url",
    text: entry("name: Notes", "url: notes.example.com"),
    message: /^mcps\.yaml:4: mcps\.notes\.url: must be an http\(s\) URL$/,
  },
  {
    claim: "a documentation page in place of an endpoint",
    text: entry("name: Notes", "url: https://github.com/example/notes"),
    message: /^mcps\.yaml:4: .*keep it as docs_url$/,
  },
  {
    claim: "a password in the url, without repeating it",
    text: entry("name: Notes", "url: https://me:hunter2@notes.example.com"),
    message: /^mcps\.yaml:4: mcps\.notes\.url: carries a user name or password((?!hunter2).)*$/,
  },
  {
    claim: "a secret in the url's query",
    text: entry("name: Notes", "url: https://notes.example.com/mcp?api_key=hunter2"),
    message: /^mcps\.yaml:4: mcps\.notes\.url: carries a secret((?!hunter2).)*$/,
  },
  {
    claim: "credentials over unencrypted http",
    text: entry("name: N", "url: http://n.example.com", "credentials: {token_env: T}"),
    message: /^mcps\.yaml:4: .*unencrypted/,
  },
  {
    claim: "a server that uses stdio",
    text: entry(...GOOD, "transport: stdio"),
    message: /^mcps\.yaml:5: mcps\.notes\.transport: .*bridge/,
  },
  {
    claim: "a secret in place of its variable's name, without repeating it",
    text: entry(...GOOD, "credentials:", "  token_env: ghp_hunter2"),
    message: /^mcps\.yaml:6: .*never the secret itself((?!hunter2).)*$/,
  },
  {
    claim: "a credential whose key does not end in _env",
    text: entry(...GOOD, "credentials:", "  token: T"),
    message: /^mcps\.yaml:6: mcps\.notes\.credentials\.token: a credential's key ends in _env$/,
  },
  {
    claim: "auth without a credential",
    text: entry(...GOOD, "auth: {in: header, name: X}"),
    message: /^mcps\.yaml:5: mcps\.notes\.auth: .*no api_key_env or token_env$/,
  },
  {
    claim: "a secret's header with a value in the file",
    text: entry(...GOOD, "headers:", "  Authorization: Bearer hunter2"),
    message:
      /^mcps\.yaml:6: mcps\.notes\.headers\.Authorization: would store a secret((?!hunter2).)*$/,
  },
  {
    claim: "a client's secret in the file",
    text: entry(...GOOD, "oauth:", "  client_id: us", "  client_secret: hunter2"),
    message:
      /^mcps\.yaml:7: mcps\.notes\.oauth\.client_secret: would store a secret((?!hunter2).)*$/,
  },
  {
    claim: "a client's secret without a client",
    text: entry(...GOOD, "credentials: {us_env: U}", "oauth: {client_secret: '{{us_env}}'}"),
    message: /^mcps\.yaml:6: .*needs a client_id$/,
  },
  {
    claim: "a protocol header",
    text: entry(...GOOD, "headers: {Mcp-Session-Id: '1'}"),
    message: /^mcps\.yaml:5: .*set by the protocol/,
  },
  {
    claim: "a placeholder that names no credential",
    text: entry(...GOOD, "headers:", "  X-Org: '{{org_env}}'"),
    message: /^mcps\.yaml:6: mcps\.notes\.headers\.X-Org: names \{\{org_env\}\}, which credentials/,
  },
  {
    claim: "a placeholder for the credential itself",
    text: entry(...GOOD, "credentials: {token_env: T}", "query: {t: '{{token_env}}'}"),
    message: /^mcps\.yaml:6: .*set its place in auth$/,
  },
  {
    claim: "two placeholders in one value",
    text: entry(
      ...GOOD,
      "credentials: {a_env: A, b_env: B}",
      "headers: {X-Both: '{{a_env}}{{b_env}}'}",
    ),
    message: /^mcps\.yaml:6: .*must have only one .*at the end$/,
  },
  {
    claim: "a shell variable",
    text: entry(...GOOD, "headers: {X-Org: '${ORG}'}"),
    message: /^mcps\.yaml:5: .*name them in credentials/,
  },
  {
    claim: "a timeout that is not a number",
    text: entry(...GOOD, "timeout_ms: soon"),
    message: /^mcps\.yaml:5: mcps\.notes\.timeout_ms: .*number/,
  },
  {
    claim: "a duplicate name",
    text: entry(...GOOD) + "  other:\n    name: Notes\n    url: https://o.example.com\n",
    message: /^mcps\.yaml:6: mcps\.other\.name: 'notes' already has this name$/,
  },
];

for (const { claim, text, message } of BAD) {
  Deno.test(`readMcpsFile() refuses ${claim}`, () => {
    assert.match(problemsOf(text), message);
  });
}

Deno.test("readMcpsFile() reports every problem in line order", () => {
  const problems = problemsOf(entry("nam: Notes", "url: 5", "timeout_ms: 0"));

  assert.deepEqual(problems.split("\n").map((line) => line.split(":")[1]), ["2", "3", "4", "5"]);
});

Deno.test("readMcpsFile() refuses aliases that expand without limit", () => {
  const levels = Array.from(
    { length: 12 },
    (_, level) =>
      level === 0
        ? "x0: &x0 [a, a, a, a, a, a, a, a, a]"
        : `x${level}: &x${level} [${Array(9).fill(`*x${level - 1}`).join(", ")}]`,
  );

  assert.match(problemsOf(`${levels.join("\n")}\nmcps: {}\n`), /alias/i);
});
