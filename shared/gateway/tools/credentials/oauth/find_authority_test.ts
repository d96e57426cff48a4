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
