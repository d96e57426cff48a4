import assert from "node:assert/strict";
import { loadYaml } from "../../deps.ts";
import { yamlParser } from "../../yaml/parse_yaml.ts";
import { importOpenApi, type OpenApiChoices } from "./import_openapi.ts";
import { ProjectSecrets } from "./project_secrets.ts";
import { readOpenApi } from "./read_openapi.ts";

const yaml = await loadYaml();
const forms = {
  parseYaml: yamlParser(yaml),
  writeYaml: (value: unknown) => yaml.stringify(value, { aliasDuplicateObjects: false }),
};

/** The tools of a document by their slugs, with what was said. */
function imported(
  text: string,
  options: Partial<OpenApiChoices> = {},
) {
  const { operations, server, secret, source = "api.yaml" } = options;
  const { secrets = new ProjectSecrets([], []) } = options;
  const document = readOpenApi(text, source, yaml);
  const plan = importOpenApi(document, { source, operations, server, secret, secrets }, forms);
  const tools = Object.fromEntries(
    plan.files.map(({ path, text }) => [path.slice("tools/".length, -".yaml".length), parse(text)]),
  );
  return { ...plan, tools };
}

function parse(text: string) {
  return yaml.parse(text) as {
    readonly description: string;
    readonly credential?: unknown;
    readonly config: {
      readonly [key: string]: unknown;
      readonly parameters: { readonly [key: string]: unknown };
    };
  };
}

const START = `openapi: 3.0.3
info: { title: Pet Store, version: 1 }
servers: [{ url: "https://pets.example.com/v1/" }]
`;

Deno.test("an operation becomes a tool with its arguments, body, secret and read-only mark", () => {
  const { tools, files } = imported(`${START}
security: [{ key: [] }]
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }
  parameters: { Limit: { name: limit, in: query, schema: { type: integer } } }
  schemas:
    Pet:
      required: [name, id]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, nullable: true }
        mother: { $ref: "#/components/schemas/Pet" }
paths:
  /pets/{id}:
    get:
      operationId: getPet
      summary: Gets a pet
      parameters:
        - { $ref: "#/components/parameters/Limit" }
        - { name: id, in: path, required: true, schema: { type: string } }
  /pets:
    post:
      operationId: createPet
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } }
`);

  assert.deepEqual(tools["get-pet"], {
    type: "http_api",
    description: "Gets a pet.",
    config: {
      method: "GET",
      url: "https://pets.example.com/v1/pets/{id}",
      parameters: {
        type: "object",
        properties: { limit: { type: "integer" }, id: { type: "string" } },
        required: ["id"],
      },
      query: { limit: "{limit}" },
      auth: { in: "header", name: "X-Key" },
      read_only: true,
    },
    credential: { secret: "PETS_EXAMPLE_COM_API_KEY", type: "api_key" },
  });
  const { config } = tools["create-pet"] ?? {};
  assert.deepEqual(config?.body, { name: "{name}", mother: "{mother}" });
  assert.deepEqual(config?.parameters.required, ["name"]);
  assert.deepEqual(Object.keys(config?.parameters.$defs ?? {}), ["Pet"]);
  assert.equal(config?.read_only, false);
  assert.deepEqual(files[0]?.notes, ["needs the secret PETS_EXAMPLE_COM_API_KEY"]);
});

Deno.test("the usual faults of documents cost only the part that has them", () => {
  const { tools, files, refused } = imported(`${START}
x-anchors: { page: &page { name: page, in: query, schema: { type: int } } }
paths:
  /a/{b}:
    get: { operationId: same, parameters: [*page, null, { $ref: "#/nowhere" }, { in: query }] }
    delete: { description: null }
  /c:
    get:
      operationId: same
      parameters:
        - { name: "filter[tag]", in: query, schema: { type: array, items: { type: strange } } }
        - { name: code, in: query, schema: { type: string, pattern: "^(a)\\\\1$" } }
        - { name: old, in: query, schema: { minimum: 0, exclusiveMinimum: true, required: true } }
    put: { operationId: file, requestBody: { required: true, content: { image/png: {} } } }
    post: null
`);

  assert.deepEqual(Object.keys(tools), ["same", "delete-a-b", "same-2"]);
  const { parameters, url } = tools.same?.config ?? { parameters: {}, url: null };
  assert.equal(url, "https://pets.example.com/v1/a/{b}");
  assert.deepEqual(parameters, {
    type: "object",
    properties: { page: { type: "integer" }, b: { type: "string" } },
    required: ["b"],
  });
  assert.deepEqual(tools["same-2"]?.config.query, {
    "filter[tag]": "{filter_tag}",
    code: "{code}",
    old: "{old}",
  });
  assert.deepEqual(tools["same-2"]?.config.parameters.properties, {
    filter_tag: { type: "array", items: {} },
    code: { type: "string" },
    old: { exclusiveMinimum: 0 },
  });
  assert.match(files[0]?.notes.join() ?? "", /path's parameter b is not declared/);
  assert.match(files[2]?.notes.join() ?? "", /type strange is unknown.*pattern cannot be checked/);
  assert.deepEqual(refused, [{
    at: "file",
    problem: "its body is image/png, not JSON or a form",
  }]);
});

Deno.test("a document of version 2, and one of 3.1 in JSON, are read", () => {
  const old = imported(`swagger: "2.0"
info: { title: Old }
host: old.example.com
basePath: /v2
securityDefinitions: { login: { type: basic } }
security: [{ login: [] }]
paths:
  /form:
    post:
      parameters:
        - { name: id, in: formData, type: integer, required: true }
        - { name: tags, in: query, type: array, items: { type: string } }
`).tools["post-form"];
  const current = imported(
    JSON.stringify({
      openapi: "3.1.0",
      servers: [{ url: "/api" }],
      paths: {
        "/x": { get: { operationId: "x", parameters: [{ name: "q", in: "query", schema: true }] } },
      },
    }),
    { source: "https://docs.example.com/openapi.json" },
  ).tools.x;

  assert.deepEqual(old?.config, {
    method: "POST",
    url: "https://old.example.com/v2/form",
    parameters: {
      type: "object",
      properties: {
        tags: { type: "string", description: "Values, separated by commas." },
        id: { type: "integer" },
      },
      required: ["id"],
    },
    query: { tags: "{tags}" },
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: { id: "{id}" },
    auth: { in: "header", name: "Authorization", prefix: "Basic " },
    read_only: false,
  });
  assert.equal(current?.config.url, "https://docs.example.com/api/x");
  assert.deepEqual(current?.config.parameters.properties, { q: true });
});

Deno.test("operations are chosen by id, by method and path, and with *; too many need a choice", () => {
  const paths = Array.from({ length: 101 }, (_, n) => `  /p${n}: { get: { operationId: op${n} } }`);
  const text = `${START}paths:\n${paths.join("\n")}\n`;

  assert.throws(() => imported(text), /101 operations: choose at most 100 with --operations/);
  assert.throws(
    () => imported(text, { operations: "none" }),
    /has no such operation. It has op0/,
  );
  assert.equal(imported(text, { operations: "op10*, GET /p7" }).files.length, 3);
});

Deno.test("a server without a host or a value is named, and --server replaces it", () => {
  const text =
    'openapi: 3.0.0\nservers: [{ url: "https://{tenant}.example.com" }]\npaths: { /a: { get: { operationId: a } } }\n';

  assert.match(imported(text).refused[0]?.problem ?? "", /needs a value of tenant; pass --server/);
  const urlOf = (written: string, server: string) =>
    imported(text.replace("https://{tenant}.example.com", written), { server }).tools.a?.config.url;
  assert.equal(
    urlOf("https://{tenant}.x", "https://acme.example.com/"),
    "https://acme.example.com/a",
  );
  assert.equal(urlOf("/api", "https://acme.example.com"), "https://acme.example.com/api/a");
  assert.equal(urlOf("/api", "https://acme.example.com/v2"), "https://acme.example.com/v2/a");
  assert.match(imported(text, { server: "nowhere" }).refused[0]?.problem ?? "", /has no host/);
});

Deno.test("a text that is no document says so, with the line of a fault of YAML", () => {
  assert.throws(() => imported("a: 1"), /it is not an OpenAPI document/);
  assert.throws(
    () => imported("openapi: 3.0.0\npaths: { a: [ }\n"),
    /api\.yaml:2: it is neither JSON/,
  );
  assert.throws(() => imported("openapi: 3.0.0\n"), /has no paths/);
});

Deno.test("a document gets a secret by the host of its server, never by its own title", () => {
  const named = (title: string, server: string) =>
    imported(`openapi: 3.0.3
info: { title: ${title}, version: 1 }
servers: [{ url: "${server}" }]
security: [{ key: [] }]
components: { securitySchemes: { key: { type: http, scheme: bearer } } }
paths: { /a: { get: { operationId: a } } }
`).tools.a?.credential;

  assert.deepEqual(named("Anthropic API", "https://anthropic.example.com"), {
    secret: "ANTHROPIC_EXAMPLE_COM_TOKEN",
    type: "bearer_token",
  });
  assert.deepEqual(named("Local", "http://127.0.0.1:8080/v1"), {
    secret: "_127_0_0_1_8080_TOKEN",
    type: "bearer_token",
  });
});

Deno.test("a secret that the project has for another host is refused, also when it is chosen", () => {
  const text = `${START}
security: [{ key: [] }]
components: { securitySchemes: { key: { type: apiKey, in: header, name: X-Key } } }
paths:
  /a: { get: { operationId: a } }
  /b: { get: { operationId: b, servers: [{ url: "https://files.example.com" }] } }
`;
  const problems = (secret: string | undefined, secrets: ProjectSecrets) =>
    imported(text, { secret, secrets }).refused.map(({ problem }) => problem);
  const sent = [{ name: "CRM_KEY", host: "crm.example.com" }];
  const known = new ProjectSecrets(sent, ["CRM_KEY", "MINE", "PETS_EXAMPLE_COM_API_KEY"]);

  assert.match(problems("CRM_KEY", known).join(), /CRM_KEY is sent to crm\.example\.com, not to/);
  assert.match(problems("ANTHROPIC_API_KEY", known).join(), /is one of the platform/);
  assert.match(problems(undefined, known).join(), /is in \.env and may be meant for another host/);
  const mine = problems("MINE", known);
  assert.equal(mine.length, 1);
  assert.match(mine[0] ?? "", /sent to pets\.example\.com, not to files\.example\.com/);
});

Deno.test("schemas of a body that are left out are named", () => {
  const schemas = Array.from(
    { length: 120 },
    (_, at) => `    P${at}: { type: object, properties: { p${at}: { type: string } } }`,
  );
  const all = schemas.map((_, at) => `{ $ref: "#/components/schemas/P${at}" }`).join(", ");
  const { files, tools } = imported(`${START}
components:
  schemas:
${schemas.join("\n")}
paths:
  /a:
    post:
      operationId: a
      requestBody: { content: { application/json: { schema: { allOf: [${all}] } } } }
`);

  assert.equal(Object.keys(tools.a?.config.body ?? {}).length, 99);
  assert.match(files[0]?.notes.join() ?? "", /left out: #\/components\/schemas\/P99, .* and more/);
});

Deno.test("an optional body that cannot be sent is left out and named, a required one is refused", () => {
  const body = (type: string, isRequired: boolean) =>
    `requestBody: { required: ${isRequired}, content: { ${type}: { schema: { type: object } } } }`;
  const { tools, files, refused } = imported(`${START}
paths:
  /search: { get: { operationId: search, ${body("application/json", false)} } }
  /find: { get: { operationId: find, ${body("application/json", true)} } }
  /upload: { post: { operationId: upload, ${body("multipart/form-data", false)} } }
`);

  assert.deepEqual(Object.keys(tools), ["search", "upload"]);
  assert.deepEqual(files.map(({ notes }) => notes), [
    ["its body cannot be sent with GET; it is optional and left out"],
    ["its body is multipart/form-data, not JSON or a form; it is optional and left out"],
  ]);
  assert.deepEqual(refused, [{ at: "find", problem: "its body cannot be sent with GET" }]);
});
