import assert from "node:assert/strict";
import { createRedactor } from "../../shared/secrets/redact.ts";
import { loadFastCheck } from "../deps.ts";

const SECRET = 's3cr3t/+="key\\with ü';

Deno.test("redactor finds a secret in every form in which it is written", () => {
  const { text } = createRedactor([SECRET]);
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    encodeURIComponent(SECRET).toLowerCase().replace("ü", "ü"),
    new URLSearchParams({ key: SECRET }).toString(),
    JSON.stringify({ key: SECRET }),
    JSON.stringify(JSON.stringify({ key: SECRET })),
  ];
  for (const form of forms) {
    assert.ok(!text(`before ${form} after`).includes("s3cr3t"), form);
    assert.match(text(form), /\[redacted\]/, form);
  }
});

Deno.test("redactor finds a secret in base64 at any place", () => {
  const { text } = createRedactor([SECRET]);
  for (const prefix of ["", "u", "us", "user:"]) {
    const bytes = new TextEncoder().encode(`${prefix}${SECRET}:rest`);
    const encoded = btoa(String.fromCharCode(...bytes));

    assert.match(text(`Basic ${encoded}`), /\[redacted\]/, prefix);
  }
});

Deno.test("redactor goes through keys, values and numbers of JSON", () => {
  const { json } = createRedactor([SECRET, "123456"]);

  assert.deepEqual(
    json({ [SECRET]: [1, { a: `x ${SECRET}` }], pin: 123456, other: 12, no: null }),
    {
      "[redacted]": [1, { a: "x [redacted]" }],
      pin: "[redacted]",
      other: 12,
      no: null,
    },
  );
});

Deno.test("redactor leaves everything alone without secrets worth the name", () => {
  const { text, json } = createRedactor(["", "abc"]);

  assert.equal(text("abc and more"), "abc and more");
  assert.deepEqual(json({ abc: 1 }), { abc: 1 });
});

Deno.test("no text around a secret keeps it", async () => {
  const { default: fc } = await loadFastCheck();
  const secrets = fc.string({ minLength: 8, maxLength: 60, unit: "grapheme" })
    .filter((secret) => !"[redacted]".includes(secret));
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      const { text } = createRedactor([secret]);
      const wrapped = [
        `${before}${secret}${after}`,
        JSON.stringify({ [before]: `${after}${secret}` }),
        `https://x/?a=${encodeURIComponent(secret.toWellFormed())}`,
      ];
      for (const line of wrapped) assert.ok(!text(line).includes(secret));
    }),
    { numRuns: 300 },
  );
});

Deno.test("text without the secret is unchanged", async () => {
  const { default: fc } = await loadFastCheck();
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (line) => {
      assert.equal(createRedactor(["a-secret-nobody-writes"]).text(line), line);
    }),
  );
});
