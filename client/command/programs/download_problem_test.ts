import assert from "node:assert/strict";
import { downloadProblem } from "./download_problem.ts";

const FAILED = 'error: Failed loading https://npm.example/yaml for package "yaml"\n    0: error ' +
  "sending request for url (https://npm.example/yaml): client error (Connect): ";

Deno.test("downloadProblem() names the server, and tells a missing network from a certificate", () => {
  for (
    const cause of ["dns error: failed to lookup address", "tcp connect error: Connection refused"]
  ) {
    const { message, hint } = downloadProblem(FAILED + cause);

    assert.equal(message, "Cannot download the packages: https://npm.example does not answer");
    assert.match(hint, /HTTPS_PROXY/);
  }
  const { message, hint } = downloadProblem(`${FAILED}invalid peer certificate: UnknownIssuer`);

  assert.match(message, /the certificate of https:\/\/npm\.example is not trusted$/);
  assert.match(hint, /NODE_EXTRA_CA_CERTS.*SSL_CERT_FILE/);
});

Deno.test("downloadProblem() repeats another failure without its backtrace", () => {
  const { message } = downloadProblem("error: Integrity check failed\n\nStack backtrace:\n   0: x");

  assert.equal(message, "Cannot download the packages: Integrity check failed");
});
