import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { signMessage } from "./sign_message.ts";

// The example in the Standard Webhooks specification.
const MESSAGE = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestampSeconds: 1614265330,
  body: '{"test": 2432232314}',
};
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

Deno.test("signMessage() produces the signature in the specification's example", async () => {
  assert.equal(
    await signMessage(MESSAGE, [SECRET]),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

Deno.test("signMessage() signs with both secrets during a rotation", async () => {
  const other = `whsec_${btoa("x".repeat(32))}`;
  const hmac = createHmac("sha256", "x".repeat(32))
    .update(`${MESSAGE.id}.${MESSAGE.timestampSeconds}.${MESSAGE.body}`)
    .digest("base64");

  const header = await signMessage(MESSAGE, [other, SECRET]);

  assert.equal(header, `v1,${hmac} v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=`);
});
