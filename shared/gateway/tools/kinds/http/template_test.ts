import assert from "node:assert/strict";
import { fillJson, fillText, fillUrl } from "./template.ts";

Deno.test("fillUrl() encodes each value as one path segment", () => {
  const url = fillUrl("https://x.example/{a}/b?q={q}", { a: "1/2?#", q: "a&b=c" });

  assert.equal(url.href, "https://x.example/1%2F2%3F%23/b?q=a%26b%3Dc");
});

Deno.test("fillUrl() refuses missing values and path traversal", () => {
  for (const args of [{}, { a: ".." }, { a: "." }, { a: "" }, { a: null }]) {
    assert.throws(() => fillUrl("https://x.example/{a}", args), { code: "TOOL_ARGUMENTS_INVALID" });
  }
});

Deno.test("fillUrl() accepts dots and an empty string in the query, where no path can be left", () => {
  const template = "https://x.example/{a}?in={folder}&q={q}";

  const url = fillUrl(template, { a: "a", folder: "..", q: "" });

  assert.equal(url.href, "https://x.example/a?in=..&q=");
  assert.throws(() => fillUrl(template, { a: "..", folder: "", q: "" }), {
    code: "TOOL_ARGUMENTS_INVALID",
  });
});

Deno.test("fillUrl() accepts plain names in a host, and refuses values that would end it", () => {
  const template = "https://{region}.api.example/v1";

  assert.equal(fillUrl(template, { region: "EU" }).host, "eu.api.example");
  for (
    const region of ["evil.example/", "evil.example#", "evil.example?", "a@evil.example", "e:1"]
  ) {
    assert.throws(() => fillUrl(template, { region }), { code: "TOOL_ARGUMENTS_INVALID" }, region);
  }
});

Deno.test("fillText() returns undefined if an argument is absent", () => {
  assert.equal(fillText("a {b} c", { b: 1 }), "a 1 c");
  assert.equal(fillText("a {b} c", {}), undefined);
  assert.equal(fillText("a {constructor}", {}), undefined);
});

Deno.test("fillJson() keeps types and omits absent values", () => {
  const template = {
    n: "{n}",
    list: ["{n}", "{none}"],
    text: "n={n}",
    gone: "{none}",
    fixed: true,
  };

  assert.deepEqual(fillJson(template, { n: 3 }), { n: 3, list: [3], text: "n=3", fixed: true });
});

Deno.test("fillText() does not fill placeholders inside an argument's value", () => {
  assert.equal(fillText("{a}{b}", { a: "{b}", b: "x" }), "{b}x");
});
