import assert from "node:assert/strict";
import { sharedNames } from "./shared_names.ts";

Deno.test("sharedNames() finds a name that two modules export, and no overload or private name", () => {
  const sources = new Map([
    ["a.ts", "export function one(): void;\nexport function one() {}\nfunction two() {}"],
    ["b.ts", "export const two = 2;\nexport interface Three {}"],
    ["c.ts", "export type Three = 3;"],
  ]);

  assert.deepEqual(sharedNames(sources), ["Three is exported by b.ts and c.ts"]);
});
