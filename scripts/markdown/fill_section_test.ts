import assert from "node:assert/strict";
import { fillSection } from "./fill_section.ts";

const PAGE = "Before.\n\n<!-- begin rows -->\n\nold\n\n<!-- end rows -->\n\nAfter.\n";

Deno.test("fillSection() replaces only the text between the markers", () => {
  assert.equal(fillSection(PAGE, "rows", "new\n"), PAGE.replace("old", "new"));
});

Deno.test("fillSection() refuses a page without the section's markers", () => {
  assert.throws(() => fillSection(PAGE, "columns", "new"), /<!-- begin columns -->/);
});
