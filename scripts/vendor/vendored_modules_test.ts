import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { PROJECT_ROOT } from "../project_root.ts";
import { VENDORED_MODULES } from "./vendored_modules.ts";

for (const { name, entries, wasm } of VENDORED_MODULES) {
  Deno.test(`shared/vendor/${name}.js exports every value that its declarations name`, async () => {
    const loaded = await import(`../../shared/vendor/${name}.js`);

    const promised = [
      ...entries.flatMap(({ values }) => values === "*" ? [] : values),
      ...wasm === undefined ? [] : ["wasmBrotliBase64"],
    ];
    for (const value of promised) assert.notEqual(loaded[value], undefined, value);
    if (promised.length > 0) assert.deepEqual(Object.keys(loaded).sort(), [...promised].sort());
  });
}

Deno.test("shared/vendor/yaml.js decodes binary values with Node's builtin modules", async () => {
  const { parse } = await import("../../shared/vendor/yaml.js");

  const data = parse("title: Tides\ntags: [a, b]\nimage: !!binary aGVsbG8=\n");

  assert.deepEqual(data, { title: "Tides", tags: ["a", "b"], image: Buffer.from("hello") });
});

Deno.test("bundled classes keep their names, which errors and requests contain", async () => {
  const { OpenAI } = await import("../../shared/vendor/openai.js");
  const { OAuthError } = await import("../../shared/vendor/mcp_client.js");
  const { default: postgres } = await import("../../shared/vendor/postgres.js");
  const sql = postgres({ host: "127.0.0.1", port: 1, connect_timeout: 1 });

  assert.equal(OpenAI.name, "OpenAI");
  assert.equal(OAuthError.name, "OAuthError");
  assert.equal(sql.PostgresError.name, "PostgresError");
});

Deno.test("the bundled SDK clients have the parts that adapters call, and no other", async () => {
  const { OpenAI } = await import("../../shared/vendor/openai.js");
  const { GoogleGenAI } = await import("../../shared/vendor/google_genai.js");
  const { BaseAnthropic, Messages } = await import("../../shared/vendor/anthropic.js");
  const openai = new OpenAI({ apiKey: "none" });
  const google = new GoogleGenAI({ apiKey: "none" });
  const anthropic = new Messages(new BaseAnthropic({ apiKey: "none" }));

  const called = [
    anthropic.create,
    openai.chat.completions.create,
    openai.responses.create,
    google.models.generateContent,
    google.models.generateContentStream,
  ];
  assert.deepEqual(called.map((method) => typeof method), called.map(() => "function"));
  const removed = [openai.files, google.files, anthropic.batches];
  assert.deepEqual(removed, [undefined, undefined, undefined]);
});

Deno.test("the SQL parser starts with the memory that it needs for its data and its stack", async () => {
  const { default: create, wasmBrotliBase64 } = await import("../../shared/vendor/libpg_query.js");
  const bytes = brotliDecompressSync(Buffer.from(wasmBrotliBase64, "base64"));
  const compiled = await WebAssembly.compile(new Uint8Array(bytes));

  const parser = await create({
    instantiateWasm: (
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance) => void,
    ) => receive(new WebAssembly.Instance(compiled, imports)),
  });

  assert.equal(parser.HEAPU8.byteLength, 36 * 1_024 * 1_024);
});

async function sourceOf(name: string): Promise<string> {
  return await Deno.readTextFile(new URL(`../../shared/vendor/${name}.js`, import.meta.url));
}

Deno.test("the MCP modules share the protocol, zod and the JSON Schema validator", async () => {
  const sources = await Promise.all(["mcp_client", "mcp_server"].map(sourceOf));
  const core = await sourceOf("mcp_core");

  for (const source of sources) {
    assert.match(source, /import \{[^}]*\}from"\.\/mcp_core\.js"/);
    assert.match(source, /import \{[^}]*\}from"\.\/cfworker_json_schema\.js"/);
    assert.doesNotMatch(source, /JSONRPCRequestSchema|keywordLocation/);
  }
  assert.match(core, /from"\.\/zod\.js"/);
  assert.doesNotMatch(core, /zod@|keywordLocation/);
});

/** What the code reads from `z` only as types. */
const ZOD_TYPES = new Set([
  "RefinementCtx",
  "ZodSafeParseResult",
  "core",
  "infer",
  "input",
  "output",
]);

Deno.test("shared/vendor/zod.js has every value that the project reads from it", async () => {
  const { z } = await import("../../shared/vendor/zod.js");
  const used = new Set<string>();
  for (const folder of ["lab", "scripts", "shared", "stack", "supabase/functions", "tests"]) {
    const paths = await readdir(join(PROJECT_ROOT, folder), { recursive: true });
    for (const path of paths.filter((path) => path.endsWith(".ts"))) {
      const code = await Deno.readTextFile(join(PROJECT_ROOT, folder, path));
      if (!code.includes("vendor/zod.js")) continue;
      for (const [, name = ""] of code.matchAll(/(?<![\w.])z\.(\w+)/g)) used.add(name);
    }
  }

  const missing = [...used].filter((name) => !ZOD_TYPES.has(name) && !(name in z));
  assert.ok(used.size > 20, `${used.size} names were compared`);
  assert.deepEqual(missing, []);
  const [issue] = z.string().safeParse(1).error?.issues ?? [];
  assert.equal(issue?.message, "Invalid input: expected string, received number");
});
