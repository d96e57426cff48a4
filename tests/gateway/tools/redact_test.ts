import assert from "node:assert/strict";
import { timed } from "../../../scripts/test/cpu_time.ts";
import { createRedactor } from "../../../shared/platform/secrets/redact.ts";
import { loadFastCheck } from "../../deps.ts";

/** For a text of a megabyte, which in quadratic time takes minutes. */
const MAX_CPU_MS = 1_500;
const SECRET = 's3cr3t/+="key\\with ü';

Deno.test("redactor finds a secret in every encoding", () => {
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

Deno.test("redactor finds a secret whichever characters an encoder escapes", () => {
  const secret = `AKIA/abc+def=gh"ij'kl<mn>op&qr\\st uv`;
  const { text } = createRedactor([secret]);
  const php = JSON.stringify(secret).replaceAll("/", "\\/");
  const dotNet = JSON.stringify(secret)
    .replace(/\\"|[+'<>&]/g, (found) => unicodeEscape(found.at(-1) ?? ""));
  const html = (ofCharacter: (code: number) => string) =>
    secret.replace(/[^A-Za-z0-9]/g, (character) => ofCharacter(character.charCodeAt(0)));
  const forms = {
    php,
    dotNet,
    dotNetCapital: dotNet.replace(/u00../g, (digits) => `u${digits.slice(1).toUpperCase()}`),
    go: JSON.stringify(secret).replace(/[<>&]/g, unicodeEscape),
    phpInJson: JSON.stringify(php),
    dotNetInJson: JSON.stringify(dotNet),
    thrice: JSON.stringify(JSON.stringify(JSON.stringify(secret))),
    javaScript: html((code) => `\\x${code.toString(16)}`),
    decimalEntities: html((code) => `&#${code};`),
    hexadecimalEntities: html((code) => `&#x${code.toString(16).padStart(4, "0")};`),
    namedEntities: secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;").replaceAll("'", "&apos;"),
    url: encodeURIComponent(secret),
    urlInUrl: encodeURIComponent(encodeURIComponent(secret)).toLowerCase()
      .replace("akia", "AKIA"),
    jsonInUrl: encodeURIComponent(JSON.stringify(secret)),
    jsonInHtml: JSON.stringify(secret).replaceAll("\\", "&#92;").replaceAll('"', "&quot;"),
    urlInPhp: `"${encodeURIComponent(secret).replaceAll("%20", "+")}\\/"`,
  };
  for (const [encoder, form] of Object.entries(forms)) {
    assert.equal(
      text(`a ${form} z`).replaceAll(/["\\/]|%22|&quot;/g, ""),
      "a [redacted] z",
      encoder,
    );
  }
});

Deno.test("redactor finds base64 with its slashes escaped", () => {
  const secret = "a secret with ???>>>~~~ in it";
  const encoded = btoa(`u:${secret}`);
  assert.match(encoded, /\/.*\/|\+/);

  const redacted = createRedactor([secret]).text(
    `${encoded.replaceAll("/", "\\/")} ${encoded.replaceAll("+", "\\u002B")} ${
      encodeURIComponent(encoded)
    }`,
  );

  assert.equal(redacted.split("[redacted]").length, 4, redacted);
});

Deno.test("redactor handles any secret, and text that almost contains one, in bounded time", () => {
  const unusual = ["\\".repeat(600), "/".repeat(600), '\\"'.repeat(600), "😀ü\n".repeat(200)];
  const { text } = createRedactor(unusual);
  for (const secret of unusual) assert.equal(text(JSON.stringify(secret)), '"[redacted]"');

  const longest = createRedactor(["long/key+".repeat(910), "longkey".repeat(1_170)]);
  assert.equal(longest.text(JSON.stringify("long/key+".repeat(910))), '"[redacted]"');
  assert.equal(longest.findBeginning(`So ${"longkey".repeat(100)}`), 3);

  const nearly = createRedactor(["key/+\\/abc"]);
  for (const part of ["key", "key/", "key\\\\", "\\", "key&amp;", "key%25", "&amp;"]) {
    const { cpuMs } = timed(() => nearly.text(part.repeat(100_000)), MAX_CPU_MS);
    assert.ok(cpuMs <= MAX_CPU_MS, `${part}: ${cpuMs} ms`);
  }
});

Deno.test("redactor finds a secret in base64 at any position", () => {
  const { text } = createRedactor([SECRET]);
  for (const prefix of ["", "u", "us", "user:"]) {
    const bytes = new TextEncoder().encode(`${prefix}${SECRET}:rest`);
    const encoded = btoa(String.fromCharCode(...bytes));

    assert.match(text(`Basic ${encoded}`), /\[redacted\]/, prefix);
  }
});

Deno.test("redactor finds a secret in which letters and digits are escaped", () => {
  const secret = "sk_Live-4f9.aZ~é/+1";
  const { text, findBeginning } = createRedactor([secret]);
  const each = (form: (character: string, place: number) => string) =>
    Array.from(secret, form).join("");
  const percent = (character: string) =>
    Array.from(new TextEncoder().encode(character), (byte) => `%${hexOf(byte)}`).join("");
  const forms = {
    percent: each(percent),
    percentCapital: each((character) => percent(character).toUpperCase()),
    percentTwice: each((character) => percent(character).replaceAll("%", "%25")),
    unicode: each(unicodeEscape),
    unicodeInJson: JSON.stringify(each(unicodeEscape)).slice(1, -1),
    mixedCase: each((character, place) =>
      place % 2 === 0 ? unicodeEscape(character).toUpperCase().replace("U", "u") : character
    ),
    everyThird: each((character, place) => place % 3 === 0 ? percent(character) : character),
    mixed: each((character, place) =>
      [percent(character), unicodeEscape(character), character][place % 3] ?? ""
    ),
    entities: each((character) => `&#${character.codePointAt(0)};`),
    hexEntities: each((character) => `&#x${character.codePointAt(0)?.toString(16)};`),
  };
  for (const [name, form] of Object.entries(forms)) {
    assert.equal(text(`a ${form} z`), "a [redacted] z", name);
    assert.equal(text(`%41 ${form}${form} \\u0042`), "%41 [redacted][redacted] \\u0042", name);
    // Text that arrives in pieces is held back from where the secret begins.
    for (let end = 4; end < form.length; end++) {
      assert.ok(findBeginning(`said ${form.slice(0, end)}`) <= 5, `${name}: ${end}`);
    }
  }
});

Deno.test("redactor finds a secret in hexadecimal digits", () => {
  const secret = "sk_Live-4f9.aZ~é/+1";
  const { text, json, findBeginning } = createRedactor([secret]);
  const bytes = [...new TextEncoder().encode(secret)].map(hexOf);
  const forms = [
    bytes.join(""),
    bytes.join("").toUpperCase(),
    bytes.map((byte, place) => place % 2 === 0 ? byte.toUpperCase() : byte).join(""),
    bytes.join(" "),
    bytes.join(":"),
    bytes.join("-").toUpperCase(),
  ];
  for (const form of forms) {
    assert.equal(text(`\\x${form}00`), "\\x[redacted]00", form);
    assert.deepEqual(json({ [form]: [form] }), { "[redacted]": ["[redacted]"] });
    assert.equal(findBeginning(`said ${form.slice(0, 9)}`), 5, form);
  }
});

Deno.test("redactor keeps escapes without a secret unchanged", () => {
  const { text } = createRedactor(["sk_Live-4f9"]);
  const kept = "%41%42 \\u0041\\x42 &#65; 736b5f4c69 100% \\ & &amp;#65;";

  assert.equal(text(kept), kept);
});

Deno.test("redactor takes linear time, whatever is escaped in the text", () => {
  const { text, findBeginning } = createRedactor(["sk_Live-4f9.aZ", "x".repeat(200)]);
  const parts = ["%73", "\\u0073", "\\", "%25", "&amp;", "&#115;", "73", "7", "s", "\\\\u", "%"];
  for (const part of parts) {
    const value = part.repeat(Math.floor(1_000_000 / part.length));
    const { cpuMs } = timed(
      () => [text(value), findBeginning(value.slice(0, 20_000))],
      MAX_CPU_MS,
    );
    assert.ok(cpuMs <= MAX_CPU_MS, `${part}: ${cpuMs} ms`);
  }
});

Deno.test("redactor processes keys, values and numbers of JSON", () => {
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

Deno.test("redactor changes nothing without usable secrets", () => {
  const { text, json } = createRedactor(["", "abc"]);

  assert.equal(text("abc and more"), "abc and more");
  assert.deepEqual(json({ abc: 1 }), { abc: 1 });
});

Deno.test("no text around a secret preserves it", async () => {
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

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

Deno.test("redactor finds a secret in base64 with line breaks", () => {
  const secret = "sk-live-0123456789abcdefghijklmnopqrstuvwxyz";
  const { text } = createRedactor([secret]);
  for (const prefix of ["", "a", "ab", "mail: ".repeat(7)]) {
    const encoded = btoa(`${prefix}${secret}, and the rest of a longer document`);
    for (const lineEnd of ["\n", "\r\n", "\\n", "\\r\\n"]) {
      for (const length of [60, 64, 76]) {
        const lines = encoded.match(new RegExp(`.{1,${length}}`, "g"))?.join(lineEnd) ?? "";

        const redacted = text(lines);

        assert.match(redacted, /\[redacted\]/, lines);
        const left = redacted.replaceAll(/\[redacted\]|\\[rn]|\s/g, "");
        assert.ok(!atob(left.slice(left.length % 4)).includes("0123456789"), lines);
      }
    }
  }
});

Deno.test("redactor finds a secret at any position in a long text", async () => {
  const secret = "sk/live+0123456789";
  const { text, textInTurns, jsonInTurns, head } = createRedactor([secret]);
  const escaped = Array.from(secret, unicodeEscape).join("");
  for (const form of [secret, encodeURIComponent(secret), escaped, JSON.stringify(escaped)]) {
    for (let before = 65_536 - form.length - 1; before <= 65_537; before += 3) {
      const long = `${"-".repeat(before)}${form}${"-".repeat(70_000)}`;

      const redacted = text(long);

      assert.equal(redacted.replaceAll(/["-]/g, ""), "[redacted]", `${form} at ${before}`);
      assert.equal(head(long, before + 5), redacted.slice(0, before + 5));
    }
    const long = `${"x".repeat(131_060)}${form}`;
    assert.equal(await textInTurns(long), text(long));
    assert.deepEqual(await jsonInTurns({ [form]: [long, 1] }), { [text(form)]: [text(long), 1] });
  }
});

Deno.test("redactor yields to other work while it searches a long text", async () => {
  const { textInTurns } = createRedactor(["sk-live-0123456789"]);
  const long = "%61".repeat(1_000_000);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);

  await textInTurns(long);

  clearInterval(timer);
  assert.ok(turns >= 3, `${turns} turns`);
});
