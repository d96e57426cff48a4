import assert from "node:assert/strict";
import { commandsLock } from "./commands_lock.ts";

const FULL = JSON.stringify({
  version: "5",
  specifiers: {
    "npm:only-tests@1.0.0": "1.0.0",
    "npm:page@1.0.0": "1.0.0",
    "npm:program@1.0.0": "1.0.0",
    "npm:used@1.0.0": "1.0.0",
    "npm:used@1.0.01": "1.0.01",
  },
  npm: {
    "native@1.0.0": { integrity: "sha512-n", os: ["linux"] },
    "only-tests@1.0.0": { integrity: "sha512-t" },
    "page@1.0.0": { integrity: "sha512-p" },
    "program@1.0.0": { integrity: "sha512-o" },
    "used@1.0.0": { integrity: "sha512-u", optionalDependencies: ["native"] },
    "used@1.0.01": { integrity: "sha512-v" },
  },
  workspace: { dependencies: ["npm:page@1.0.0"] },
});
const PINS = `export const load = () => import("npm:used@1.0.0/entry");
export const PROGRAM = "npm:program@1.0.0";`;

Deno.test("commandsLock() keeps what is imported and what deno.json names, as Deno writes it", () => {
  const text = commandsLock(FULL, [PINS]);

  const { specifiers, npm, workspace } = JSON.parse(text);
  assert.deepEqual(Object.keys(specifiers), ["npm:page@1.0.0", "npm:used@1.0.0"]);
  assert.deepEqual(Object.keys(npm), ["native@1.0.0", "page@1.0.0", "used@1.0.0"]);
  assert.deepEqual(workspace, { dependencies: ["npm:page@1.0.0"] });
  assert.match(text, /^ {6}"os": \["linux"\]$/m);
});
