import assert from "node:assert/strict";
import { addProvider } from "../operator.ts";
import type { Platform } from "../platform.ts";
import { assertFailed, MAX_ATTEMPTS, retriedCodes, runToEnd } from "./ended_job.ts";
import { startRawServer, streamed } from "./raw_server.ts";
import type { Step } from "./step.ts";

/** Rows of `llm_providers` as an operator may write them, valid and invalid. */
export async function providerSteps(step: Step, platform: Platform): Promise<void> {
  const { sql } = platform;

  await step(
    "a provider row works without code changes, and its key comes from Vault",
    async () => {
      await using model = startRawServer(() =>
        streamed({
          calls: [{ name: "complete_task", argumentsText: '{"output": "from outside"}' }],
        })
      );
      await addProvider(sql, {
        name: "outside",
        baseUrl: `${model.url}/v1`,
        secretName: "OUTSIDE_KEY",
      });
      await sql`select vault.create_secret('outside-key', 'OUTSIDE_KEY')`;

      const end = await runToEnd(platform, { slug: "outside", provider: "outside" });

      assert.equal(end.task.output, "from outside");
      assert.equal(model.seen[0]?.headers.get("authorization"), "Bearer outside-key");
    },
  );

  await step("a key that the provider refuses is not repeated in the error", async () => {
    await using model = startRawServer(({ headers }) =>
      Response.json({ error: { message: `bad key ${headers.get("authorization")}` } }, {
        status: 401,
      })
    );
    await addProvider(sql, {
      name: "strict",
      baseUrl: `${model.url}/v1`,
      secretName: "STRICT_KEY",
    });
    await sql`select vault.create_secret('strict-c4n4ry', 'STRICT_KEY')`;

    const end = await runToEnd(platform, { slug: "strict", provider: "strict" });

    assertFailed(end, "MODEL_AUTH_FAILED", /strict.*\[redacted\]/s);
    assert.equal(model.seen.length, 1);
    assert.ok(!JSON.stringify(end).includes("c4n4ry"));
  });

  await step("a model without a key fails immediately and names the secret", async () => {
    const end = await runToEnd(platform, { slug: "keyless", provider: "openai" });

    assertFailed(end, "MODEL_KEY_MISSING", /OPENAI_API_KEY/);
    assert.equal(end.task.attempts, 0);
    assert.match(end.task.error?.hint ?? "", /vault\.create_secret.*set_provider_key/s);
  });

  await step("an agent without a provider fails immediately", async () => {
    const end = await runToEnd(platform, { slug: "orphan", provider: "no such provider" });

    assertFailed(end, "PROVIDER_NOT_FOUND", /provider/);
  });

  await step("a provider that does not respond fails the task", async () => {
    const closed = startRawServer(() => new Response("never"));
    await closed.stop();
    await addProvider(sql, { name: "gone", baseUrl: `${closed.url}/v1` });

    const end = await runToEnd(platform, { slug: "gone", provider: "gone" });

    assertFailed(end, "MODEL_UNAVAILABLE", /provider 'gone'/);
    assert.equal(retriedCodes(end).length, MAX_ATTEMPTS - 1);
  });
}
