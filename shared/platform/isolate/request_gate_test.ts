import assert from "node:assert/strict";
import { SwarmError } from "../errors/swarm_error.ts";
import { createCpuMeter } from "./cpu_meter.ts";
import { createRequestGate } from "./request_gate.ts";

const LIMITS = { softMs: 1_000, hardMs: 2_000 };

/** A gate of an isolate with 2,000 ms of CPU, whose requests cost what the test says. */
function testGate(costMs: number) {
  let usedMs = 0;
  const gate = createRequestGate(LIMITS, { meter: createCpuMeter(() => usedMs) });
  const request = () =>
    gate.admit(async () => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      usedMs += costMs;
      return new Response();
    }).then(
      () => "answered",
      (error: unknown) => error instanceof SwarmError ? error.code : "lost",
    );
  return { gate, request, usedMs: () => usedMs };
}

function count(answers: readonly string[], wanted: string): number {
  return answers.filter((answer) => answer === wanted).length;
}

Deno.test("a burst is answered or refused before its CPU is used up", async () => {
  const { request, usedMs } = testGate(25);

  const answers = await Promise.all(Array.from({ length: 100 }, request));

  const answered = count(answers, "answered");
  assert.ok(answered >= 40, `${answered} answered`);
  assert.equal(answered + count(answers, "ENDPOINT_BUSY"), 100);
  assert.ok(usedMs() <= 1_500, `${usedMs()} ms`);
});

Deno.test("requests that cost ten times as much are refused earlier", async () => {
  const { request, usedMs } = testGate(140);

  const answers = await Promise.all(Array.from({ length: 100 }, request));

  assert.ok(count(answers, "answered") >= 5);
  assert.ok(usedMs() < 2_000, `${usedMs()} ms`);
});

Deno.test("a refusal says when to send the request again", async () => {
  let usedMs = 0;
  const gate = createRequestGate(LIMITS, { meter: createCpuMeter(() => usedMs) });
  const slow = Promise.withResolvers<Response>();
  const earlier = gate.admit(() => slow.promise);
  usedMs = 1_900;

  await assert.rejects(gate.admit(() => Promise.resolve(new Response())), {
    code: "ENDPOINT_BUSY",
    retryAfterSeconds: 1,
  });
  slow.resolve(new Response());
  await earlier;
});

Deno.test("a request shows that an isolate is not retired, although its meter says so", async () => {
  let usedMs = 0;
  const gate = createRequestGate(LIMITS, { meter: createCpuMeter(() => usedMs) });
  usedMs = 1_900;

  const answer = await gate.admit(() => Promise.resolve(new Response("answered")));

  assert.equal(await answer.text(), "answered");
});

Deno.test("requests that wait for something slow do not hold up others", async () => {
  const { gate, request } = testGate(1);
  const slow = Promise.withResolvers<Response>();
  const waiting = Array.from({ length: 6 }, () => gate.admit(() => slow.promise));

  assert.equal(await request(), "answered");

  slow.resolve(new Response());
  await Promise.all(waiting);
});

Deno.test("many requests that wait for something slow hold up nobody for long", async () => {
  const { gate, request } = testGate(0);
  const slow = Promise.withResolvers<Response>();
  const waiting = Array.from({ length: 40 }, () => gate.admit(() => slow.promise));
  const beganAtMs = performance.now();

  assert.equal(await request(), "answered");

  assert.ok(performance.now() - beganAtMs < 3_000);
  slow.resolve(new Response());
  await Promise.all(waiting);
});

Deno.test("a request that fails gives its turn to the next", async () => {
  const gate = createRequestGate(LIMITS, { meter: createCpuMeter(() => 0) });
  const failing = Array.from(
    { length: 6 },
    () => gate.admit(() => Promise.reject(new Error("failed"))).catch(() => "failed"),
  );

  const next = await gate.admit(() => Promise.resolve(new Response("next")));
  assert.equal(await next.text(), "next");
  assert.deepEqual(await Promise.all(failing), Array(6).fill("failed"));
});

Deno.test("without a CPU limit every request starts", async () => {
  const gate = createRequestGate(null);

  const answer = await gate.admit(() => Promise.resolve(new Response("answered")));

  assert.equal(await answer.text(), "answered");
});

Deno.test("a response that streams counts until it has been read", async () => {
  const { gate, request } = testGate(1);
  const stream = () =>
    gate.admit(() =>
      Promise.resolve(
        new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } }),
      )
    );
  const streams = await Promise.all(Array.from({ length: 6 }, stream));
  let isAnswered = false;
  const next = request().then(() => isAnswered = true);
  await new Promise((resolve) => setTimeout(resolve, 0));

  assert.equal(isAnswered, false);
  await Promise.all(streams.map((response) => response.text()));
  await next;
});

/** A gate with requests of named users, each of which has been answered once. */
async function gateOf(users: readonly string[], meter = createCpuMeter(() => 0)) {
  const gate = createRequestGate(LIMITS, { meter });
  const tokenOf = (user: string) => `Bearer x.${btoa(JSON.stringify({ sub: user }))}.y`;
  const ask = (user: string, answer: () => Promise<Response>, address = "192.0.2.1") => {
    const headers = { authorization: tokenOf(user), "cf-connecting-ip": address };
    return gate.admit(answer, new Request("http://127.0.0.1/", { headers }));
  };
  for (const user of users) await ask(user, () => Promise.resolve(new Response()));
  return ask;
}

Deno.test("90 slow requests of one caller neither delay nor refuse those of another", async () => {
  const ask = await gateOf(["crowd", "bystander"]);
  const slow = Promise.withResolvers<Response>();
  const outcomes: string[] = [];
  const crowd = Array.from({ length: 90 }, () =>
    ask("crowd", () => {
      outcomes.push("began");
      return slow.promise.then((answer) => answer.clone());
    }).catch(({ code }) => void outcomes.push(code)));
  await new Promise((resolve) => setTimeout(resolve, 0));

  const begun = outcomes.length;
  const answer = await ask("bystander", () => Promise.resolve(new Response("answered")));

  assert.equal(await answer.text(), "answered");
  assert.equal(outcomes.length, begun, "it waited for none of them");
  slow.resolve(new Response());
  await Promise.all(crowd);
});

Deno.test("callers take turns, however many requests each has waiting", async () => {
  const ask = await gateOf(["crowd", "other", "bystander"]);
  const slow = Promise.withResolvers<void>();
  const order: string[] = [];
  const request = (user: string) =>
    ask(user, async () => {
      order.push(user);
      await slow.promise;
      return new Response();
    });

  const all = ["crowd", "crowd", "crowd", "crowd", "crowd", "crowd", "other", "crowd", "bystander"]
    .map(request);
  slow.resolve();
  await Promise.all(all);

  assert.deepEqual(order.slice(0, 6), [...Array(5).fill("crowd"), "other"]);
  assert.ok(order.indexOf("bystander") < 8, order.join(" "));
});

Deno.test("one caller is refused before the CPU of the others is used up", async () => {
  let usedMs = 0;
  const ask = await gateOf(["crowd", "bystander"], createCpuMeter(() => usedMs));
  const spend = async () => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    usedMs += 25;
    return new Response();
  };

  const crowd = await Promise.all(
    Array.from(
      { length: 100 },
      () => ask("crowd", spend).then(() => "answered", ({ code }) => code),
    ),
  );
  const bystander = await Promise.all(
    Array.from(
      { length: 3 },
      () => ask("bystander", spend).then(() => "answered", ({ code }) => code),
    ),
  );

  assert.ok(count(crowd, "answered") >= 40, `${count(crowd, "answered")} answered`);
  assert.ok(count(crowd, "ENDPOINT_BUSY") > 0);
  assert.deepEqual(bystander, Array(3).fill("answered"));
});

Deno.test("invented tokens of one address share one caller's turns", async () => {
  const ask = await gateOf(["bystander"]);
  const refused = Promise.withResolvers<Response>();
  const begun = new Set<string>();
  const crowd = Array.from({ length: 30 }, (_, n) =>
    ask(`invented ${n}`, () => {
      begun.add(`invented ${n}`);
      return refused.promise.then((answer) => answer.clone());
    }, "198.51.100.7"));
  await new Promise((resolve) => setTimeout(resolve, 0));

  assert.equal(begun.size, 5);
  const answer = await ask("bystander", () => Promise.resolve(new Response("answered")));
  assert.equal(await answer.text(), "answered");
  refused.resolve(new Response(null, { status: 401 }));
  await Promise.all(crowd);
});
