import assert from "node:assert/strict";
import { isCodeProof, untestedCodes } from "./untested_codes.ts";

Deno.test("untestedCodes() reports a code that no test expects", () => {
  const problems = untestedCodes(['assert.equal(code, "A_CODE");'], ["A_CODE", "OTHER_CODE"]);

  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? "", /^OTHER_CODE: no test/);
});

Deno.test("untestedCodes() does not accept a longer name in place of the code", () => {
  assert.equal(untestedCodes(["A_CODE_TOO, NOT_A_CODE"], ["A_CODE"]).length, 1);
});

Deno.test("isCodeProof() accepts tests and their steps, but not the list of codes or fixtures", () => {
  const proofs = [
    "shared/platform/http/authenticate_test.ts",
    "tests/security/caller_login_steps.ts",
    "supabase/tests/cancel_task/refuses.sql",
  ];

  assert.ok(proofs.every(isCodeProof));
  assert.ok(!isCodeProof("shared/platform/errors/codes_test.ts"));
  assert.ok(!isCodeProof("shared/platform/errors/codes.ts"));
  assert.ok(!isCodeProof("tests/conformance/fixture/signed_state.ts"));
});
