import assert from "node:assert/strict";
import { mergeCores, withLazySchemas } from "./mcp_core.ts";

const CLIENT = `//#region src/names.ts
/** Whether it is a name. */
function isName(value) {
	return isFilled$1(value);
}
//#endregion
const clientName = (value) => isName(value);
export { clientName as $, isName as a };
//# sourceMappingURL=src-1.mjs.map
`;
const SERVER = `//#region src/names.ts
function isName(value) {
	return isFilled$7(value);
}
//#endregion
export { isName as t };
//# sourceMappingURL=src-2.mjs.map
`;

Deno.test("mergeCores() moves what only the client declares to the server's file", () => {
  const merged = mergeCores(
    { path: "/client/src-1.mjs", source: CLIENT },
    { path: "/server/src-2.mjs", source: SERVER },
  );

  assert.deepEqual(merged, {
    client: 'export { clientName as $, isName as a } from "/server/src-2.mjs";\n',
    server: `${SERVER}\nconst clientName = (value) => isName(value);\n` +
      "export { clientName, isName };\n",
  });
});

Deno.test("mergeCores() refuses packages whose common code differs", () => {
  const other = SERVER.replace("isFilled$7(value)", "value !== null");

  assert.throws(
    () =>
      mergeCores(
        { path: "/client/src-1.mjs", source: CLIENT },
        { path: "/server/src-2.mjs", source: other },
      ),
    /^Error: Cannot share the MCP core: isName differs in \/client\/src-1\.mjs$/,
  );
});

Deno.test("withLazySchemas() makes a schema once, when something reads from it", async () => {
  const source = `
const log = [];
const BaseSchema = made("base", {
	shape: { name: 1 }
});
/** Has those of the base. */
const ItemSchema = made("item", { shape: { ...BaseSchema.shape, size: 2 } });
function build() {
	const PageSchema$1 = made("page", { parse() {
		return "a page";
	} });
	return PageSchema$1;
}
function wireResult(name) {
	return made(name, { name });
}
function made(name, schema) {
	log.push(name);
	return schema;
}
export { BaseSchema, ItemSchema, build, log, wireResult };
`;
  const url = `data:text/javascript,${encodeURIComponent(withLazySchemas(source))}`;
  const module = await import(url);

  const page = module.build();
  const result = module.wireResult("result");
  assert.deepEqual(module.log, []);
  assert.deepEqual(module.ItemSchema.shape, { name: 1, size: 2 });
  assert.ok("shape" in module.BaseSchema && !("parse" in module.BaseSchema));
  assert.deepEqual(module.log, ["base", "item"]);
  assert.equal(page.parse(), "a page");
  assert.equal(result.name, "result");
  assert.deepEqual(module.log, ["base", "item", "page", "result"]);
  assert.throws(() => withLazySchemas("const one = 1;\n"), /Cannot find the schemas/);
});
