import assert from "node:assert/strict";
import { importOpenApi } from "../../../scripts/import/tools/import_openapi.ts";
import { ProjectSecrets } from "../../../scripts/import/tools/project_secrets.ts";
import { readOpenApi } from "../../../scripts/import/tools/read_openapi.ts";
import { CommandError } from "../../../scripts/cli/run_command.ts";
import { loadYaml } from "../../../scripts/deps.ts";
import { yamlParser } from "../../../scripts/yaml/parse_yaml.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { variantsOf } from "../variants.ts";

const yaml = await loadYaml();
const forms = {
  parseYaml: yamlParser(yaml),
  writeYaml: (value: unknown) => yaml.stringify(value, { aliasDuplicateObjects: false }),
};

/** An operation with one of each part that a document can have. */
const CHANGED = {
  servers: [{ url: "https://{region}.example.com/v1", variables: { region: { default: "eu" } } }],
  get: {
    operationId: "find",
    summary: "Finds",
    description: "Finds things.",
    deprecated: false,
    security: [{ key: [] }],
    parameters: [
      {
        name: "id",
        in: "path",
        required: true,
        description: "Id",
        schema: { type: "string", minLength: 1, pattern: "^[a-z]+$", format: "uuid" },
      },
      {
        name: "f",
        in: "query",
        style: "deepObject",
        schema: { properties: { a: { type: "string" } } },
      },
      { $ref: "#/components/parameters/Limit" },
    ],
  },
  post: {
    operationId: "add",
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            allOf: [{ $ref: "#/components/schemas/Thing" }],
            properties: {
              size: { type: ["integer", "null"], minimum: 0, exclusiveMaximum: 9, default: 1 },
              kind: { enum: ["a", null], nullable: true },
              tags: { type: "array", items: { type: "string" }, maxItems: 3, uniqueItems: true },
              any: { anyOf: [{ type: "string" }, { not: { type: "null" } }] },
              more: { type: "object", additionalProperties: { type: "number" }, required: ["x"] },
            },
            required: ["size"],
          },
        },
      },
    },
  },
};
const COMPONENTS = {
  securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } },
  parameters: { Limit: { name: "limit", in: "query", schema: { type: "integer" } } },
  schemas: {
    Thing: { type: "object", properties: { self: { $ref: "#/components/schemas/Thing" } } },
  },
};
const HEALTHY = { operationId: "healthy", parameters: [{ name: "q", in: "query", schema: {} }] };

function documentOf(item: JsonValue, components: JsonValue = COMPONENTS): JsonObject {
  return {
    openapi: "3.1.0",
    info: { title: "Things" },
    servers: [{ url: "https://things.example.com" }],
    components,
    paths: { "/healthy": { get: HEALTHY }, "/things/{id}": item },
  };
}

function imported(document: unknown) {
  const text = JSON.stringify(document);
  const choices = {
    source: "api.json",
    operations: undefined,
    server: undefined,
    secret: undefined,
    secrets: new ProjectSecrets([], []),
  };
  return importOpenApi(readOpenApi(text, "api.json", yaml), choices, forms);
}

const HEALTHY_TOOL = imported(documentOf({})).files[0];

Deno.test("a changed part of an operation never costs the operations beside it", () => {
  let count = 0;
  for (const { path: at, change, document } of variantsOf(CHANGED)) {
    const { files, refused } = imported(documentOf(document));

    const where = `${at.join(".")} is ${change}`;
    assert.deepEqual(files.find(({ path }) => path === "tools/healthy.yaml"), HEALTHY_TOOL, where);
    const methods = Object.entries(document ?? {}).filter(([key, part]) =>
      (key === "get" || key === "post") && typeof part === "object" && part !== null &&
      !Array.isArray(part) && Object.keys(part).length > 0
    );
    assert.equal(files.length - 1 + refused.length, methods.length, where);
    for (const { problem } of refused) assert.match(problem, /server|body|multipart/, where);
    count++;
  }
  assert.ok(count > 800, `${count} documents`);
});

Deno.test("a changed part of what operations share is left out of each, and named", () => {
  let count = 0;
  for (const { path: at, change, document } of variantsOf(COMPONENTS)) {
    const { files, refused } = imported(documentOf(CHANGED, document));

    const where = `${at.join(".")} is ${change}`;
    assert.deepEqual(refused, [], where);
    assert.equal(files.length, 3, where);
    count++;
  }
  assert.ok(count > 150, `${count} documents`);
});

Deno.test("a document with a changed frame is read, or says what it lacks", () => {
  for (const { document } of variantsOf(documentOf({}, {}))) {
    try {
      imported(document);
    } catch (error) {
      assert.ok(error instanceof CommandError, String(error));
    }
  }
});
