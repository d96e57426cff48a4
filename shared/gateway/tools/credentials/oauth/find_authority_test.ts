import assert from "node:assert/strict";
import { createGuardedFetch } from "../../../../platform/net/guarded_fetch.ts";
import { findAuthority } from "./authorization_server.ts";
import { chooseClient } from "./choose_client.ts";
import { oauthAddresses } from "./client_metadata.ts";

const TOOL = "https://tool.example/mcp";
const ISSUER = "https://login.example";
const RESOURCE = { resource: TOOL, authorization_servers: [ISSUER] };
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  response_types_supported: ["code"],
  code_challenge_methods_supported: ["S256"],
};

/** The web pages of a tool server and an authorization server. */
function webOf(resource: object | null, metadata: object): typeof fetch {
  return (input) => {
    const { href } = new URL(String(input));
    if (href === TOOL) return Promise.resolve(new Response(null, { status: 401 }));
    const isResource = href.includes("oauth-protected-resource");
    const body = isResource ? resource : href.startsWith(ISSUER) ? metadata : null;
    return Promise.resolve(
      body === null ? new Response(null, { status: 404 }) : Response.json(body),
    );
  };
}

Deno.test("findAuthority() follows the resource's metadata to its authorization server", async () => {
  const { server, resource } = await findAuthority("tool", TOOL, webOf(RESOURCE, METADATA));

  assert.deepEqual([server.issuer, resource], [ISSUER, TOOL]);
});

Deno.test("findAuthority() refuses an authorization server without PKCE, or with another name or resource", async () => {
  const { code_challenge_methods_supported: _, ...withoutPkce } = METADATA;
  const webs = [
    webOf(RESOURCE, withoutPkce),
    webOf(RESOURCE, { ...METADATA, code_challenge_methods_supported: ["plain"] }),
    webOf(RESOURCE, { ...METADATA, issuer: "https://evil.example" }),
    webOf({ ...RESOURCE, resource: "https://other.example/mcp" }, METADATA),
    webOf(null, METADATA),
  ];
  for (const web of webs) {
    await assert.rejects(findAuthority("tool", TOOL, web), { code: "OAUTH_UNAVAILABLE" });
  }
});

Deno.test("findAuthority() uses the next authorization server if one cannot be used", async () => {
  const others = ["no address", "https://fails.example", "https://broken.example"];
  for (const other of others) {
    const resource = { ...RESOURCE, authorization_servers: [other, ISSUER] };
    const web = webOf(resource, METADATA);

    const { server } = await findAuthority("tool", TOOL, (input, init) => {
      const { host } = new URL(String(input));
      if (host === "fails.example") return Promise.reject(new TypeError("connection refused"));
      if (host === "broken.example") return Promise.resolve(Response.json({ issuer: other }));
      return web(input, init);
    });

    assert.equal(server.issuer, ISSUER, other);
  }
});

Deno.test("findAuthority() tries three authorization servers within one deadline", async () => {
  const issuers = Array.from({ length: 50 }, (_, index) => `https://login${index}.example`);
  const web = webOf({ ...RESOURCE, authorization_servers: issuers }, METADATA);
  const asked = new Set<string>();

  const found = findAuthority("tool", TOOL, (input, init) => {
    asked.add(new URL(String(input)).origin);
    return web(input, init);
  });

  await assert.rejects(found, {
    code: "OAUTH_UNAVAILABLE",
    message: /'https:\/\/login0\.example' has no metadata/,
  });
  assert.deepEqual([...asked], ["https://tool.example", ...issuers.slice(0, 3)]);
});

Deno.test("findAuthority() ends when its deadline passes, whatever is still to be asked", async () => {
  const { timeout } = AbortSignal;
  const timers: AbortController[] = [];
  AbortSignal.timeout = () => {
    const timer = new AbortController();
    timers.push(timer);
    return timer.signal;
  };
  const issuers = [ISSUER, "https://login2.example", "https://login3.example"];
  const web = webOf({ ...RESOURCE, authorization_servers: issuers }, METADATA);
  try {
    const found = findAuthority("tool", TOOL, async (input, init) => {
      if (new URL(String(input)).host === "tool.example") return await web(input);
      timers[0]?.abort(new Error("deadline"));
      init?.signal?.throwIfAborted();
      return await new Promise<never>(() => {});
    });

    await assert.rejects(found, { code: "OAUTH_UNAVAILABLE", message: /cannot be read/ });
  } finally {
    AbortSignal.timeout = timeout;
  }
});

/** Where the metadata may be that names an issuer with a path. */
const PATH_FORMS = [
  "/.well-known/oauth-authorization-server/tenant",
  "/.well-known/openid-configuration/tenant",
  "/tenant/.well-known/openid-configuration",
  "/tenant/.well-known/oauth-authorization-server",
];

Deno.test("findAuthority() reads an issuer with and without a slash, in every form of its path", async () => {
  const names = [
    [ISSUER, `${ISSUER}/`],
    [`${ISSUER}/`, ISSUER],
    [`${ISSUER}:443`, ISSUER],
    [ISSUER.toUpperCase().replace("HTTPS", "https"), `${ISSUER}/`],
    [`${ISSUER}/.well-known/oauth-authorization-server`, ISSUER],
  ] as const;
  for (const [named, issuer] of names) {
    const web = webOf({ ...RESOURCE, authorization_servers: [named] }, { ...METADATA, issuer });

    assert.equal((await findAuthority("tool", TOOL, web)).server.issuer, issuer);
  }
  for (const form of PATH_FORMS) {
    for (const [named, issuer] of [["/tenant", "/tenant/"], ["/tenant/", "/tenant"]] as const) {
      const resource = { ...RESOURCE, authorization_servers: [`${ISSUER}${named}`] };
      const metadata = { ...METADATA, issuer: `${ISSUER}${issuer}` };
      const everywhere = webOf(resource, metadata);
      const web: typeof fetch = (input) => {
        const { href, pathname } = new URL(String(input));
        if (!href.startsWith(ISSUER) || pathname === form) return everywhere(input);
        return Promise.resolve(new Response(null, { status: 404 }));
      };

      const { server } = await findAuthority("tool", TOOL, web);
      assert.equal(server.issuer, metadata.issuer, form);
    }
  }
});

Deno.test("findAuthority() names both issuers if they differ", async () => {
  for (const issuer of ["https://evil.example", `${ISSUER}/tenant`, `${ISSUER}.evil.example`]) {
    await assert.rejects(findAuthority("tool", TOOL, webOf(RESOURCE, { ...METADATA, issuer })), {
      message:
        `Cannot connect to 'tool' by OAuth: it names the authorization server '${ISSUER}', ` +
        `whose metadata is that of '${issuer}'`,
    });
  }
});

Deno.test("findAuthority() reads null, texts and other values of optional metadata as absent", async () => {
  const optional = [
    "registration_endpoint",
    "revocation_endpoint",
    "response_types_supported",
    "scopes_supported",
    "token_endpoint_auth_methods_supported",
    "revocation_endpoint_auth_methods_supported",
    "client_id_metadata_document_supported",
    "authorization_response_iss_parameter_supported",
    "jwks_uri",
    "service_documentation",
    "grant_types_supported",
    "ui_locales_supported",
  ];
  for (const value of [null, 5, {}, [], [null], "", "text", true]) {
    const others = Object.fromEntries(optional.map((name) => [name, value]));
    const resource = {
      ...RESOURCE,
      scopes_supported: value,
      resource_name: value,
      jwks_uri: value,
    };
    const web = webOf(resource, { ...METADATA, ...others });

    const { server } = await findAuthority("tool", TOOL, web);
    assert.equal(server.issuer, ISSUER, JSON.stringify(value));
  }
  const asText = webOf(RESOURCE, { ...METADATA, code_challenge_methods_supported: "plain S256" });
  await findAuthority("tool", TOOL, asText);
});

Deno.test("findAuthority() takes the first authorization server that has metadata", async () => {
  const resource = { ...RESOURCE, authorization_servers: ["https://gone.example", null, ISSUER] };

  const { server } = await findAuthority("tool", TOOL, webOf(resource, METADATA));

  assert.equal(server.issuer, ISSUER);
});

Deno.test("findAuthority() cannot be redirected to an internal address", async () => {
  const inner = "http://169.254.169.254";
  const asked: string[] = [];
  const web = webOf({ ...RESOURCE, authorization_servers: [inner] }, METADATA);
  const guardedFetch = createGuardedFetch({
    allowLoopback: false,
    resolveHost: () => Promise.resolve(["93.184.215.14"]),
    fetch: (input, init) => {
      asked.push(new URL(String(input)).origin);
      return web(input, init);
    },
  });

  await assert.rejects(findAuthority("tool", TOOL, guardedFetch), {
    code: "TOOL_ADDRESS_FORBIDDEN",
  });
  assert.deepEqual(new Set(asked), new Set(["https://tool.example"]));
});

Deno.test("chooseClient() uses the metadata document if the server supports it and can reach it", async () => {
  const saved: unknown[] = [];
  const choose = (publicUrl: string, metadata: object) =>
    chooseClient({
      slug: "tool",
      oauth: undefined,
      server: { ...METADATA, ...metadata },
      addresses: oauthAddresses(publicUrl, "a".repeat(32)),
    }, {
      guardedFetch: () => Promise.reject(new Error("nothing is to be asked")),
      store: {
        findClient: () => Promise.resolve(null),
        recordClient: (client) => {
          saved.push(client);
          return Promise.resolve();
        },
      },
    });
  const readsDocuments = { client_id_metadata_document_supported: true };

  assert.deepEqual(await choose("https://us.example", readsDocuments), {
    clientId: "https://us.example/functions/v1/mcp-oauth/client-metadata/" + "a".repeat(32),
    clientSecretName: null,
  });
  for (const metadata of [readsDocuments, {}]) {
    await assert.rejects(choose("http://127.0.0.1:54321", metadata), { code: "OAUTH_UNAVAILABLE" });
  }
  assert.deepEqual(saved, []);
});
