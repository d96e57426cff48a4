import assert from "node:assert/strict";
import { capBody } from "./cap_body.ts";

Deno.test("capBody() passes on a body with a short declared length unchanged", () => {
  const short = new Response("12345", { headers: { "content-length": "5" } });

  assert.equal(capBody(short, 5), short);
});

for (const header of ["transfer-encoding", "content-encoding"]) {
  Deno.test(`capBody() does not trust a declared length next to ${header}`, async () => {
    const long = new Response("123456", { headers: { "content-length": "5", [header]: "x" } });

    await assert.rejects(capBody(long, 5).text(), { code: "OUTPUT_TOO_LARGE" });
  });
}

Deno.test("capBody() stops a body without a declared length, and reports it", async () => {
  const reported: string[] = [];
  const capped = capBody(new Response("123456"), 5, ({ code }) => reported.push(code));

  await assert.rejects(capped.text(), { code: "OUTPUT_TOO_LARGE" });
  assert.deepEqual(reported, ["OUTPUT_TOO_LARGE"]);
});
