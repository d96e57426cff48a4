import assert from "node:assert/strict";
import { createGuardedFetch, type GuardedFetchPolicy } from "./guarded_fetch.ts";
import { assertUrlAllowed, type UrlPolicy } from "./url_policy.ts";

const PUBLIC = "93.184.215.14";

function policy(overrides: Partial<GuardedFetchPolicy> = {}): GuardedFetchPolicy {
  return { allowLoopback: false, resolveHost: () => Promise.resolve([PUBLIC]), ...overrides };
}

async function isAllowed(url: string, given: UrlPolicy): Promise<boolean> {
  try {
    await assertUrlAllowed(url, given);
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "TOOL_ADDRESS_FORBIDDEN", String(error));
    return false;
  }
}

Deno.test("assertUrlAllowed() allows https to public addresses", async () => {
  for (const url of ["https://example.com/a?b", "https://8.8.8.8", "https://[2606:4700::1111]/"]) {
    assert.ok(await isAllowed(url, policy()), url);
  }
});

Deno.test("assertUrlAllowed() refuses every notation of an internal address", async () => {
  const hosts = [
    ...["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "localhost", "localhost."],
    ...["a.localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"],
    ...["[2002:7f00:1::]", "[::7f00:1]", "10.1.2.3", "172.16.0.1", "192.168.0.1", "[fd00::1]"],
    ...["100.64.0.1", "169.254.169.254", "[fe80::1]", "0.0.0.0", "[::]", "168.63.129.16"],
    ...["224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.192"],
  ];
  for (const host of hosts) {
    assert.equal(await isAllowed(`https://${host}/`, policy()), false, host);
  }
});

Deno.test("assertUrlAllowed() refuses other schemes, unencrypted http and credentials in the URL", async () => {
  for (const url of ["http://example.com", "ftp://example.com", "file:///etc/passwd", "nonsense"]) {
    assert.equal(await isAllowed(url, policy()), false, url);
  }
  assert.equal(await isAllowed("https://me:secret@example.com", policy()), false);
});

Deno.test("assertUrlAllowed() checks every address of a name", async () => {
  const resolveHost = () => Promise.resolve([PUBLIC, "10.0.0.1"]);

  assert.equal(await isAllowed("https://mixed.example", policy({ resolveHost })), false);
  assert.equal(
    await isAllowed("https://mixed.example", policy({ resolveHost, allowLoopback: true })),
    false,
  );
});

Deno.test("assertUrlAllowed() allows loopback and private networks where configured", async () => {
  const inner = policy({ allowLoopback: true });
  for (
    const url of ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]", "http://10.0.0.1"]
  ) {
    assert.ok(await isAllowed(url, inner), url);
  }
  for (const url of ["http://169.254.169.254", "http://[fd00:ec2::254]", "http://example.com"]) {
    assert.equal(await isAllowed(url, inner), false, url);
  }
});

Deno.test("assertUrlAllowed() treats a name without addresses as unavailable", async () => {
  const resolveHost = () => Promise.reject(new Error("ENOTFOUND"));

  await assert.rejects(assertUrlAllowed("https://gone.example", policy({ resolveHost })), {
    code: "TOOL_UNAVAILABLE",
  });
});

/** A fetch that answers by URL and records its requests. */
function fakeFetch(answers: Record<string, () => Response>) {
  const requests: Request[] = [];
  const send: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    requests.push(request);
    return Promise.resolve(answers[request.url]?.() ?? new Response("ok"));
  };
  return { send, requests };
}

function redirectTo(location: string, status = 302): () => Response {
  return () => new Response(null, { status, headers: { location } });
}

Deno.test("guarded fetch() checks each hop of a redirect", async () => {
  const { send, requests } = fakeFetch({
    "https://a.example/": redirectTo("https://b.example/x"),
    "https://b.example/x": redirectTo("http://169.254.169.254/latest"),
  });

  await assert.rejects(createGuardedFetch(policy({ fetch: send }))("https://a.example/"), {
    code: "TOOL_ADDRESS_FORBIDDEN",
  });
  assert.equal(requests.length, 2);
});

Deno.test("guarded fetch() drops credentials in any header on a redirect to another origin", async () => {
  const { send, requests } = fakeFetch({
    "https://a.example/": redirectTo("https://a.example/y"),
    "https://a.example/y": redirectTo("https://b.example/"),
  });
  const headers = { authorization: "Bearer x", "x-my-key": "x", accept: "text/plain" };

  await createGuardedFetch(policy({ fetch: send }))("https://a.example/", { headers });

  assert.equal(requests[1]?.headers.get("x-my-key"), "x");
  assert.deepEqual([...requests[2]?.headers ?? []], [["accept", "text/plain"]]);
});

Deno.test("guarded fetch() sends no body to another origin", async () => {
  const { send, requests } = fakeFetch({
    "https://a.example/": redirectTo("https://b.example/", 307),
  });

  await assert.rejects(
    createGuardedFetch(policy({ fetch: send }))("https://a.example/", {
      method: "POST",
      body: "secret",
    }),
    { code: "TOOL_ADDRESS_FORBIDDEN" },
  );
  assert.equal(requests.length, 1);
});

Deno.test("guarded fetch() stops endless redirects", async () => {
  const { send } = fakeFetch({ "https://a.example/": redirectTo("https://a.example/") });

  await assert.rejects(createGuardedFetch(policy({ fetch: send }))("https://a.example/"), {
    message: /redirects more than 5 times/,
  });
});

Deno.test("guarded fetch() stops reading a body at its limit", async () => {
  const { send } = fakeFetch({ "https://a.example/": () => new Response("x".repeat(100)) });
  const response = await createGuardedFetch(policy({ fetch: send, maxBodyBytes: 99 }))(
    "https://a.example/",
  );

  await assert.rejects(response.text(), { code: "OUTPUT_TOO_LARGE" });
});
