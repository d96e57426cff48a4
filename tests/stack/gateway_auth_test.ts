import assert from "node:assert/strict";
import { loadJose } from "../../stack/deps.ts";
import { loadSupabaseServer } from "../deps.ts";
import { type GatewayFixture, startGatewayFixture } from "./gateway_fixture.ts";

Deno.test("a user signs up, in and out with supabase-js", async (t) => {
  await using fixture = await startGatewayFixture();
  const credentials = { email: "ann@example.com", password: "long-enough" };
  const { client, id } = await fixture.signedUp(credentials.email);

  await t.step("getUser() and getClaims() return the user", async () => {
    const user = await client.auth.getUser();
    const claims = (await client.auth.getClaims()).data?.claims;

    assert.equal(user.data.user?.id, id);
    assert.equal(claims?.sub, id);
    assert.equal(claims?.iss, `${fixture.url}/auth/v1`);
    assert.equal(claims?.aud, "authenticated");
    assert.equal(claims?.role, "authenticated");
    assert.equal(claims?.email, credentials.email);
    assert.equal(claims?.aal, "aal1");
    assert.equal(claims?.is_anonymous, false);
    assert.deepEqual(claims?.app_metadata, { provider: "email", providers: ["email"] });
    assert.equal(claims?.amr?.length, 1);
    assert.ok(claims?.session_id);
  });

  await t.step("refreshSession() returns a new session with the project's signature", async () => {
    const before = (await client.auth.getSession()).data.session?.refresh_token;
    const { data, error } = await client.auth.refreshSession();

    assert.equal(error, null);
    assert.notEqual(data.session?.refresh_token, before);
    assert.ok(await fixture.keys.verifyUserToken(data.session?.access_token ?? ""));
  });

  await t.step("updateUser() changes metadata and password", async () => {
    const { error } = await client.auth.updateUser({
      data: { plan: "pro" },
      password: "another-one",
    });
    const again = fixture.client();
    const signIn = await again.auth.signInWithPassword({ ...credentials, password: "another-one" });

    assert.equal(error, null);
    assert.equal(signIn.error, null);
    assert.equal(signIn.data.user?.user_metadata.plan, "pro");
    const [row] = await fixture.sql`
      select raw_user_meta_data ->> 'plan' as plan from auth.users where id = ${id}`;
    assert.deepEqual(row, { plan: "pro" });
  });

  await t.step("a wrong password is refused", async () => {
    const { error } = await fixture.client().auth.signInWithPassword({
      ...credentials,
      password: "not-the-one",
    });

    assert.equal(error?.code, "invalid_credentials");
  });

  await t.step("@supabase/server accepts only the project's tokens", async () => {
    const token = (await client.auth.getSession()).data.session?.access_token;
    const forged = await symmetricToken(fixture);

    assert.equal(await callProtected(fixture, { authorization: `Bearer ${token}` }), 200);
    assert.equal(await callProtected(fixture, {}), 401);
    assert.equal(await callProtected(fixture, { authorization: `Bearer ${forged}` }), 401);
  });

  await t.step("every service refuses tokens that the project did not sign", async () => {
    const expired = await fixture.keys.signUserToken({ sub: id, role: "service_role", exp: 1 });
    const endless = await fixture.keys.signUserToken({ sub: id, role: "service_role" });

    for (const token of [await symmetricToken(fixture), expired, endless, "no.token.this"]) {
      assert.deepEqual(await statusesWith(fixture, token), [401, 403, 400]);
    }
  });

  await t.step("after signOut() the refresh token is invalid", async () => {
    const refresh_token = (await client.auth.getSession()).data.session?.refresh_token ?? "";
    const signOut = await client.auth.signOut();
    const { error } = await client.auth.refreshSession({ refresh_token });

    assert.equal(signOut.error, null);
    assert.equal(error?.code, "refresh_token_not_found");
  });
});

Deno.test("an administrator manages users with only the secret key", async (t) => {
  await using fixture = await startGatewayFixture();
  const { admin } = fixture.service().auth;
  const created = await admin.createUser({
    email: "Bea@Example.com",
    password: "long-enough",
    email_confirm: true,
    app_metadata: { team: "x" },
    user_metadata: { name: "Bea" },
  });
  const id = created.data.user?.id ?? "";

  await t.step("createUser() creates a user who can sign in", async () => {
    const client = fixture.client();
    const { data, error } = await client.auth.signInWithPassword({
      email: "bea@example.com",
      password: "long-enough",
    });

    assert.equal(error, null);
    assert.equal(data.user?.id, id);
    assert.equal(data.user?.app_metadata.team, "x");
    assert.equal(data.user?.identities?.length, 1);
  });

  await t.step("createUser() refuses an existing address", async () => {
    const { error } = await admin.createUser({ email: "bea@example.com", password: "long-enough" });

    assert.equal(error?.code, "email_exists");
  });

  await t.step("getUserById() and listUsers() find the user", async () => {
    const one = await admin.getUserById(id);
    const { data } = await admin.listUsers({ page: 1, perPage: 10 });

    assert.equal(one.data.user?.email, "bea@example.com");
    assert.deepEqual(data.users.map((user) => user.id), [id]);
    assert.ok("total" in data && data.total === 1);
  });

  await t.step("updateUserById() merges metadata and bans", async () => {
    const { data } = await admin.updateUserById(id, {
      user_metadata: { name: null, city: "Bern" },
      ban_duration: "1h30m",
    });
    const signIn = await fixture.client().auth.signInWithPassword({
      email: "bea@example.com",
      password: "long-enough",
    });

    assert.deepEqual(data.user?.user_metadata, { city: "Bern" });
    assert.equal(signIn.error?.code, "user_banned");
  });

  await t.step("deleteUser() removes the user", async () => {
    const removal = await admin.deleteUser(id);
    const { error } = await admin.getUserById(id);

    assert.equal(removal.error, null);
    assert.equal(error?.code, "user_not_found");
  });

  await t.step("other callers may not", async () => {
    const { client } = await fixture.signedUp();
    const token = (await client.auth.getSession()).data.session?.access_token;
    const asUser = await fetch(`${fixture.url}/auth/v1/admin/users`, {
      headers: { apikey: fixture.keys.publishableKey, authorization: `Bearer ${token}` },
    });
    await asUser.body?.cancel();

    assert.equal(asUser.status, 403);
    assert.equal((await fixture.client().auth.admin.listUsers()).error?.code, "no_authorization");
  });
});

/** The status of a function that requires a signed-in user. */
async function callProtected(
  { url, keys }: GatewayFixture,
  headers: Record<string, string>,
): Promise<number> {
  const { withSupabase } = await loadSupabaseServer();
  const handler = withSupabase(
    {
      auth: "user",
      env: {
        url,
        publishableKeys: { default: keys.publishableKey },
        secretKeys: { default: keys.secretKey },
        jwks: { keys: [...keys.jwks.keys] },
      },
    },
    () => Promise.resolve(new Response("in")),
  );
  const answer = await handler(
    new Request(`${url}/functions/v1/any`, {
      headers: { apikey: keys.publishableKey, ...headers },
    }),
  );
  await answer.body?.cancel();
  return answer.status;
}

/** The responses of REST, Auth and Storage to a user's token. */
async function statusesWith({ url, keys }: GatewayFixture, token: string): Promise<number[]> {
  const headers = { apikey: keys.publishableKey, authorization: `Bearer ${token}` };
  return await Promise.all(
    ["/rest/v1/any", "/auth/v1/user", "/storage/v1/bucket"].map(async (path) => {
      const answer = await fetch(url + path, { headers });
      await answer.body?.cancel();
      return answer.status;
    }),
  );
}

/** A token signed like those of the service behind the gateway. */
async function symmetricToken({ keys }: GatewayFixture): Promise<string> {
  const { SignJWT } = await loadJose();
  return await new SignJWT({ sub: crypto.randomUUID(), role: "service_role" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(keys.jwtSecret));
}
