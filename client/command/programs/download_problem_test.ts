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

/** What npm and Deno print, and what is said about it. */
const PRINTED: readonly (readonly [output: string, message: string, hint: RegExp])[] = [
  [
    "npm error code ECONNREFUSED\nnpm error syscall connect\nnpm error errno ECONNREFUSED\n" +
    "npm error FetchError: request to http://npm.example:9/deno failed, reason: connect " +
    "ECONNREFUSED 127.0.0.1:9\nnpm error A complete log of this run can be found in: /x.log",
    "http://npm.example:9 does not answer",
    /HTTPS_PROXY/,
  ],
  [
    "npm error code ENOTFOUND\nnpm error network request to https://npm.example/deno failed",
    "https://npm.example does not answer",
    /HTTPS_PROXY/,
  ],
  [
    "npm error code E403\nnpm error 403 403 Forbidden - GET https://npm.example/deno",
    "https://npm.example refuses with status 403",
    /NPM_CONFIG_REGISTRY/,
  ],
  [
    'error: Failed loading https://npm.example/yaml for package "yaml"\n    0: Bad response: 401',
    "https://npm.example refuses with status 401",
    /NPM_CONFIG_REGISTRY/,
  ],
  [
    "npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error request to https://npm.example/deno failed",
    "the certificate of https://npm.example is not trusted",
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    "npm error code EACCES\nnpm error syscall mkdir\nnpm error path /home/a/.npm\nnpm error errno -13",
    "/home/a/.npm cannot be written",
    /npm_config_cache/,
  ],
  ["error: Integrity check failed\n\nStack backtrace:\n   0: x", "Integrity check failed", /again/],
  ["sh: 1: deno: not found\n", "sh: 1: deno: not found", /again/],
  ["", "npm and Deno say nothing", /again/],
];

Deno.test("downloadProblem() reads the errors of npm and of Deno", () => {
  for (const [output, expected, expectedHint] of PRINTED) {
    const { message, hint } = downloadProblem(output);

    assert.equal(message, `Cannot download the packages: ${expected}`);
    assert.match(hint, expectedHint);
  }
});
