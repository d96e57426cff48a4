import assert from "node:assert/strict";
import { createMask } from "./mask_values.ts";

for (
  const [what, text] of [
    ["an email address", "ada.lovelace+news@mail.example.co.uk"],
    ["an email address with letters of another script", "jürgen@müller.de"],
    ["an international phone number", "+49 (30) 1234-5678"],
    ["a national phone number", "030 / 1234 5678"],
    ["a key with a known prefix", `sk-proj-${"aB3".repeat(8)}`],
    ["a random key", "q7Hn2LxPz0VbT5mWk9RcYd3A"],
    ["a hash", "9f86d081884c7d659a2feaa0c55ad015"],
    ["a hash in capitals", "9F86D081884C7D659A2FEAA0C55AD015"],
    ["a token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"],
    ["a card number", "4111 1111 1111 1111"],
    ["an account number", "1234567890"],
  ] as const
) {
  Deno.test(`createMask() replaces ${what} within a text`, () => {
    const masked = createMask()(`Write to ${text}, please.`);

    assert.match(String(masked), /^Write to [^,]+, please\.$/);
    assert.ok(!String(masked).includes(text.slice(0, 8)), String(masked));
  });
}

for (
  const text of [
    "A sentence of 12 words about 2026, chapter 3.14 and version 1.2.3.",
    "2026-11-27T08:48:41.824+00:00",
    "2026-11-27",
    "01a21c31-4960-7a44-b9ae-b059d40d01fd",
    "request_human_review_of_the_second_draft_2",
    "https://example.com/docs/how-to-write-webhooks-in-10-minutes",
  ]
) {
  Deno.test(`createMask() keeps ${text}`, () => {
    assert.equal(createMask()(text), text);
  });
}

Deno.test("createMask() replaces equal texts by equal ones, and others by others", () => {
  const mask = createMask();

  const masked = mask({
    from: "ada@example.org",
    to: ["eve@example.org", "ada@example.org"],
    "ada@example.org": { account: 1234567890, share: 0.1234567891, isPaid: true, note: null },
  });

  assert.deepEqual(masked, {
    from: "person1@example.com",
    to: ["person2@example.com", "person1@example.com"],
    "person1@example.com": { account: 99900003, share: 0.1234567891, isPaid: true, note: null },
  });
  assert.deepEqual(mask("ada@example.org"), "person1@example.com");
});

Deno.test("createMask() ends for texts that its patterns almost match", () => {
  for (const unit of ["a-", "a.", "a@", "0 ", "aA1-", "+1 "]) {
    const text = unit.repeat(100_000);

    assert.ok(String(createMask()(text)).length > 0);
  }
});
