import assert from "node:assert/strict";
import { VENDORED_MODULES } from "./vendored_modules.ts";

for (const { name, entries, wasm } of VENDORED_MODULES) {
  Deno.test(`shared/vendor/${name}.js exports every value that its declarations name`, async () => {
    const loaded = await import(`../../shared/vendor/${name}.js`);

    const promised = [
      ...entries.flatMap(({ values }) => values === "*" ? [] : values),
      ...wasm === undefined ? [] : ["wasmGzipBase64"],
    ];
    for (const value of promised) assert.notEqual(loaded[value], undefined, value);
    if (promised.length > 0) assert.deepEqual(Object.keys(loaded).sort(), [...promised].sort());
  });
}

Deno.test("shared/vendor/yaml.js finds the builtin modules that its package requires", async () => {
  const { parse } = await import("../../shared/vendor/yaml.js");

  assert.deepEqual(parse("title: Tides\ntags: [a, b]\n"), { title: "Tides", tags: ["a", "b"] });
});

Deno.test("the MCP modules use the project's copy of zod", async () => {
  for (const name of ["mcp_client", "mcp_server"]) {
    const code = await Deno.readTextFile(
      new URL(
        `../../shared/vendor/${name}.js`,
        import.meta.url,
      ),
    );
    const [header = ""] = code.split("// @ts-self-types");

    assert.match(code, /from"\.\/zod\.js"/);
    assert.doesNotMatch(header, /zod@/);
  }
});
