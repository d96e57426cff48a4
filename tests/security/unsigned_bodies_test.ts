import assert from "node:assert/strict";
import { createQuothSyncApp } from "../../shared/app/quoth_sync_app.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import { REPO, sign, SyncFixture } from "../servers/quoth/sync_fixture.ts";

const MIB = 1_048_576;
const BODY_BYTES = 25 * MIB;
const COUNT = 40;
/** The memory for all of them at once: 50 MB, a copy of a whole body, and concurrent work. */
const MAX_GROWTH_BYTES = 160 * MIB;

Deno.test("large unsigned bodies share a bounded part of the memory", async () => {
  await using fixture = await SyncFixture.open();
  const project = await fixture.addProject();
  const environment: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: fixture.url,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: "sb_publishable_endpoint" }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: "sb_secret_endpoint" }),
    SUPABASE_JWKS: JSON.stringify({ keys: [] }),
    SUPASWARM_ALLOW_LOOPBACK: "true",
    SUPASWARM_GITHUB_API_URL: fixture.github.url,
    // The test and the database use the same thread.
    SUPASWARM_CPU_HARD_MS: "0",
  };
  const app = createQuothSyncApp(readConfig((name) => environment[name]), () => {});
  const post = (body: BodyInit, signature: string) =>
    app.fetch(
      new Request("http://localhost/quoth-sync/handbook", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-github-event": "push",
          "x-github-delivery": crypto.randomUUID(),
          "x-hub-signature-256": signature,
        },
        body,
      }),
    );
  const push = new TextEncoder().encode(JSON.stringify({
    ref: "refs/heads/main",
    after: "0123456789abcdef0123456789abcdef01234567",
    repository: { full_name: REPO },
  }));
  const signature = await sign(project.secret, push);
  const open = Promise.withResolvers<void>();
  let arrived = 0;
  let mostBytes = 0;
  /** Pauses before its end until all have sent most of theirs. */
  const largeBody = () => {
    let sentBytes = 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        if (sentBytes >= BODY_BYTES) return controller.close();
        if (sentBytes === BODY_BYTES - MIB) {
          arrived++;
          await open.promise;
        }
        controller.enqueue(new Uint8Array(MIB));
        sentBytes += MIB;
        mostBytes = Math.max(mostBytes, Deno.memoryUsage().external);
      },
    });
  };
  try {
    await post(push, signature);
    const beforeBytes = Deno.memoryUsage().external;

    const answers = Array.from(
      { length: COUNT },
      () => post(largeBody(), `sha256=${"0".repeat(64)}`),
    );
    const refused = await firstOf(answers, COUNT - 2);
    const honest = await post(push, signature);
    open.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);

    assert.equal(honest.status, 202, "a push of ordinary size succeeds meanwhile");
    assert.ok(arrived <= 2, `${arrived} complete bodies were held`);
    for (const answer of refused) {
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get("retry-after"), "10");
      assert.equal((await answer.json()).error.code, "ENDPOINT_BUSY");
    }
    assert.ok(statuses.every((status) => status === 401 || status === 503), statuses.join());
    const growthBytes = mostBytes - beforeBytes;
    assert.ok(growthBytes < MAX_GROWTH_BYTES, `${Math.round(growthBytes / MIB)} MB more`);

    const later = await post(new Uint8Array(BODY_BYTES), `sha256=${"0".repeat(64)}`);
    assert.equal(later.status, 401, "the memory is free again");
    await later.body?.cancel();
  } finally {
    await app.close();
  }
});

/** The first answers, in the order in which they arrive. */
async function firstOf(
  answers: readonly Promise<Response>[],
  count: number,
): Promise<readonly Response[]> {
  const come: Response[] = [];
  const enough = Promise.withResolvers<void>();
  for (const answer of answers) {
    answer.then((response) => {
      come.push(response);
      if (come.length === count) enough.resolve();
    }, enough.reject);
  }
  await enough.promise;
  return come.slice(0, count);
}
