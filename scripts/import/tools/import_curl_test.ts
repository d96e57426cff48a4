import assert from "node:assert/strict";
import { loadYaml } from "../../deps.ts";
import { yamlParser } from "../../yaml/parse_yaml.ts";
import { importCurl } from "./import_curl.ts";
import { ProjectSecrets } from "./project_secrets.ts";

const yaml = await loadYaml();
const forms = {
  parseYaml: yamlParser(yaml),
  writeYaml: (value: unknown) => yaml.stringify(value),
};

function imported(
  command: string,
  choices: { name?: string; secret?: string; secrets?: ProjectSecrets } = {},
) {
  const { name, secret, secrets = new ProjectSecrets([], []) } = choices;
  const { files: [file] } = importCurl(command, { name, secret, secrets }, forms);
  const { config, credential } = yaml.parse(file?.text ?? "");
  return { config, credential, text: file?.text ?? "", path: file?.path, file };
}

Deno.test("a curl command becomes a tool whose arguments are its query and its body", () => {
  const { config, credential, path } = imported(
    `curl -sSL -XPOST "https://api.example.com/v1/users/$USER_ID/notes?limit=5" \\
      -H 'Authorization: Bearer '"$NOTES_TOKEN" \\
      -H "Content-Type: application/json" \\
      --data-raw '{"title": "It'\\''s", "count": 3, "tags": ["a"], "done": true}' --compressed`,
  );

  assert.equal(path, "tools/post-example-v1-users-notes.yaml");
  assert.deepEqual(credential, { secret: "NOTES_TOKEN", type: "bearer_token" });
  assert.deepEqual(config, {
    method: "POST",
    url: "https://api.example.com/v1/users/{USER_ID}/notes",
    parameters: {
      type: "object",
      properties: {
        USER_ID: { type: "string" },
        limit: { type: "integer", description: "For example 5." },
        title: { type: "string", description: `For example "It's".` },
        count: { type: "integer", description: "For example 3." },
        tags: { type: "array" },
        done: { type: "boolean", description: "For example true." },
      },
      required: ["USER_ID"],
    },
    query: { limit: "{limit}" },
    body: { title: "{title}", count: "{count}", tags: "{tags}", done: "{done}" },
    auth: { in: "header", name: "Authorization", prefix: "Bearer " },
    read_only: false,
  });
});

Deno.test("each form of a request is read", () => {
  const { config: get } = imported("curl -G api.example.com/find -d q=tea --data-urlencode 'n=2'");
  assert.deepEqual([get.method, get.url, get.read_only], [
    "GET",
    "https://api.example.com/find",
    true,
  ]);
  assert.deepEqual(get.query, { q: "{q}", n: "{n}" });

  const { config: form, credential } = imported(
    "curl https://api.example.com/pay -u sk_test: -d amount=5",
  );
  assert.deepEqual(form.headers, { "content-type": "application/x-www-form-urlencoded" });
  assert.deepEqual([form.method, form.body], ["POST", { amount: "{amount}" }]);
  assert.deepEqual(credential, { secret: "API_EXAMPLE_COM_BASIC_AUTH", type: "api_key" });
  assert.equal(form.auth.prefix, "Basic ");

  const { config: json } = imported(
    `curl --request=PUT --json '[1]' --url https://a.example.com/x`,
  );
  assert.deepEqual([json.method, json.body], ["PUT", "{body}"]);

  const { config: typed } = imported(
    "curl https://a.example.com -H 'Accept: application/x+json' -H 'Accept: */*'",
  );
  assert.deepEqual(typed.headers, { Accept: "application/x+json" });
  assert.equal(imported("$ curl -I https://a.example.com").config.method, "HEAD");
  assert.equal(
    imported("curl -X DELETE 'https://a.example.com/x'; rm -rf x").config.method,
    "DELETE",
  );
});

/** Texts that must not be in a file. */
const SECRET = "s3cr3tV4lue9k2mQx7Lp0Zt8";

Deno.test("no secret of a command is written, wherever it stands", () => {
  for (
    const command of [
      `curl https://a.example.com -H 'Authorization: Bearer ${SECRET}'`,
      `curl https://a.example.com -H 'X-Api-Key: ${SECRET}'`,
      `curl https://a.example.com -H 'X-Custom: ${SECRET}'`,
      `curl https://a.example.com -b 'sid=${SECRET}'`,
      `curl https://ada:${SECRET}@a.example.com`,
      `curl https://a.example.com -u 'ada:${SECRET}'`,
      `curl 'https://a.example.com/x?access_token=${SECRET}'`,
      `curl 'https://a.example.com/hook/${SECRET}'`,
      `curl 'https://a.example.com/bot123456:${SECRET}/send'`,
      `curl 'https://a.example.com/hook?${SECRET}'`,
      `curl https://a.example.com -d '${SECRET}'`,
      `curl https://a.example.com -d '{"${SECRET}": 1}'`,
      `curl https://a.example.com -d '{"password": "${SECRET}"}'`,
      `curl https://a.example.com -d 'plain=${SECRET}'`,
      `curl https://a.example.com -d '{"deep": {"token": "${SECRET}"}}'`,
      `curl https://a.example.com -H 'Authorization: Token ${SECRET}' -H 'apikey: ${SECRET}'`,
      `curl https://a.example.com --oauth2-bearer ${SECRET}`,
    ]
  ) {
    assert.ok(!JSON.stringify(imported(command).file).includes(SECRET), command);
  }
});

Deno.test("a second secret is left out and named, as are files", () => {
  const { file, credential } = imported(
    `curl https://a.example.com -H 'apikey: $ANON' -H 'Authorization: Bearer $USER' -d @x`,
  );

  assert.equal(credential.secret, "USER");
  assert.deepEqual(file?.leftOut, [
    "--data @x",
    "the header apikey, because a tool sends only one secret",
  ]);
});

Deno.test("a command without a URL, or with one that no tool can have, is refused", () => {
  assert.throws(() => imported("curl -H 'A: b'"), /it has no URL/);
  assert.throws(() => imported("curl https://$HOST/a"), /no http\(s\) host/);
  assert.throws(() => imported("curl https://a.example.com -F file=@x"), /a form with parts/);
  assert.throws(() => imported("curl -T x https://a.example.com"), /a form with parts/);
  assert.throws(() => imported("curl -X TRACE https://a.example.com"), /no method TRACE/);
});

Deno.test("the name of a file has only plain words of the path", () => {
  const pathOf = (path: string) => imported(`curl https://api.example.com/${path}`).path;

  assert.equal(pathOf("v2/userNotes/find-all"), "tools/get-example-v2-usernotes-find-all.yaml");
  assert.equal(pathOf("hook/T0123ABCD/xQ9z"), "tools/get-example-hook.yaml");
  assert.equal(pathOf("hook/%73%33cr3t"), "tools/get-example-hook.yaml");
});

Deno.test("a command gets no secret that the project has for another host", () => {
  const command = (variable: string) => `curl https://a.example.com -H 'apikey: $${variable}'`;
  const secrets = new ProjectSecrets([{ name: "CRM_KEY", host: "crm.example.com" }], ["MINE"]);

  assert.throws(() => imported(command("CRM_KEY"), { secrets }), /is sent to crm\.example\.com/);
  assert.throws(() => imported(command("GITHUB_TOKEN"), { secrets }), /is one of the platform/);
  assert.throws(() => imported(command("MINE"), { secrets }), /pass --secret MINE if/);
  assert.equal(imported(command("MINE"), { secrets, secret: "MINE" }).credential.secret, "MINE");
  const own = imported("curl https://anthropic.example -H 'apikey: sk-0123456789abcdef'", {
    secrets,
  });
  assert.equal(own.credential.secret, "ANTHROPIC_EXAMPLE_API_KEY");
});
