import assert from "node:assert/strict";
import { withClassNames } from "./class_names.ts";

Deno.test("withClassNames() names classes, also those of a variable, and nothing else", () => {
  const source = [
    "export class Client extends Base {",
    "  run() {}",
    "}",
    "export default class Server {}",
    "var Queue = class {",
    "};",
    "let File$1 = class File extends (_a = Base) {",
    "};",
    "const Failure = class extends Error {",
    "};",
    "export default class extends Base {}",
    'const text = "class Client {";',
  ].join("\n");

  assert.deepEqual(
    [...withClassNames(source).matchAll(/^.*static name = "(.*)";/gm)].map(([, name]) => name),
    ["Client", "Server", "Queue", "File", "Failure"],
  );
});
