import assert from "node:assert/strict";
import { capBody } from "./cap_body.ts";

Deno.test("capBody() hands on as it is what declares that it is short", () => {
  const short = new Response("12345", { headers: { "content-length": "5" } });

  assert.equal(capBody(short, 5), short);
});

for (const header of ["transfer-encoding", "content-encoding"]) {
  Deno.test(`capBody() takes no declared length for true beside ${header}`, async () => {
    const long = new Response("123456", { headers: { "content-length": "5", [header]: "x" } });

    await assert.rejects(capBody(long, 5).text(), { code: "OUTPUT_TOO_LARGE" });
  });
}

Deno.test("capBody() stops where nothing is declared, and tells it", async () => {
  const reported: string[] = [];
  const capped = capBody(new Response("123456"), 5, ({ code }) => reported.push(code));

  await assert.rejects(capped.text(), { code: "OUTPUT_TOO_LARGE" });
  assert.deepEqual(reported, ["OUTPUT_TOO_LARGE"]);
});
