import assert from "node:assert/strict";
import { mergeCores } from "./mcp_core.ts";

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
