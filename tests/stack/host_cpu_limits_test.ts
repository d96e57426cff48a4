import assert from "node:assert/strict";
import type { FunctionLogLine } from "../../stack/functions/function_log.ts";
import { canReadThreadCpu } from "../../stack/functions/thread_cpu.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { startHost } from "./host_fixture.ts";

/** Small, so that tests are short; only CPU time counts, not the machine's speed. */
const CPU = { softMs: 150, hardMs: 400 };
const SOFT_ONLY = { softMs: 150, hardMs: 10_000 };

/**
 * Answers with a number that is different in each isolate. `?burn=<ms>` first keeps the processor
 * busy for that time, in short pieces, each followed by `&rest=<ms>`; `?background=<ms>` does so
 * after the answer; `?wait=<ms>` waits; `?endless` leaves background work that never ends.
 */
const BURNER = `
const life = crypto.randomUUID();
addEventListener("beforeunload", (event) => console.log("unload " + event.detail.reason));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function burn(cpuMs, restMs) {
  for (let used = 0; used < cpuMs; used += 5) {
    const begin = performance.now();
    while (performance.now() - begin < 5);
    await pause(restMs);
  }
}
Deno.serve(async (request) => {
  const query = new URL(request.url).searchParams;
  const ms = (name) => Number(query.get(name) ?? 0);
  await burn(ms("burn"), ms("rest"));
  await pause(ms("wait"));
  if (ms("background") > 0) {
    EdgeRuntime.waitUntil(burn(ms("background"), 0).then(() => console.log("background done")));
  }
  if (query.has("endless")) EdgeRuntime.waitUntil(new Promise(() => {}));
  return new Response(life);
});`;

const IMPORTS_FOR_LONG = `
const begin = performance.now();
while (performance.now() - begin < 1_000);
${BURNER}`;

function cpuTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: !canReadThreadCpu(), fn: run });
}

function eventsOf(logs: readonly FunctionLogLine[], event: string): readonly FunctionLogLine[] {
  return logs.filter((line) => line.event === event);
}

cpuTest(
  "beyond the soft CPU limit new requests reach a new isolate and the old one ends",
  async () => {
    await using fixture = await startHost({ burner: BURNER }, { cpu: SOFT_ONLY });
    const first = await (await fixture.get("burner")).text();
    assert.equal(await (await fixture.get("burner")).text(), first);

    await waitFor(async () => await (await fixture.get("burner", "?burn=100")).text() !== first);

    await waitFor(() => fixture.logs.some(({ message }) => message === "unload early_drop"));
    const [retired] = eventsOf(fixture.logs, "isolate.retired");
    assert.equal(retired?.function, "burner");
    assert.ok(Number(retired?.cpu_ms) >= SOFT_ONLY.softMs, `retired at ${retired?.cpu_ms} ms`);
  },
);

cpuTest("background work of a retired isolate continues up to the hard CPU limit", async () => {
  await using fixture = await startHost({ burner: BURNER }, { cpu: { softMs: 50, hardMs: 5_000 } });

  await (await fixture.get("burner", "?background=200")).text();

  await waitFor(() => fixture.logs.some(({ message }) => message === "background done"));
  assert.equal(eventsOf(fixture.logs, "isolate.terminated").length, 0);
});

cpuTest(
  "at the hard CPU limit an isolate is warned and ended, and the lost work is logged",
  async () => {
    await using fixture = await startHost({ burner: BURNER, other: BURNER }, { cpu: CPU });
    const other = await (await fixture.get("other")).text();
    const first = await (await fixture.get("burner", "?endless")).text();

    // It rests, so that there is time between the warning and the end.
    const response = await fixture.get("burner", "?burn=20000&rest=45");

    assert.equal(response.status, 546);
    assert.equal((await response.json()).error.code, "FUNCTION_CPU_LIMIT");
    assert.ok(fixture.logs.some(({ message }) => message === "unload cpu"));
    const [terminated] = eventsOf(fixture.logs, "isolate.terminated");
    assert.deepEqual(
      [terminated?.level, terminated?.function, terminated?.reason, terminated?.lost],
      ["error", "burner", "cpu", 2],
    );
    assert.ok(Number(terminated?.cpu_ms) >= CPU.hardMs, `ended at ${terminated?.cpu_ms} ms`);
    assert.notEqual(await (await fixture.get("burner")).text(), first);
    assert.equal(await (await fixture.get("other")).text(), other, "other isolates keep running");
  },
);

cpuTest("an endless loop is ended at the hard CPU limit", async () => {
  await using fixture = await startHost(
    { looping: "Deno.serve(() => { while (true); });", burner: BURNER },
    { cpu: CPU },
  );

  const response = await fixture.get("looping");

  assert.equal((await response.json()).error.code, "FUNCTION_CPU_LIMIT");
  assert.equal((await fixture.get("burner")).status, 200);
});

cpuTest(
  "waiting, the import, and the work of other isolates do not count as CPU time",
  async () => {
    await using fixture = await startHost(
      { burner: BURNER, importer: IMPORTS_FOR_LONG },
      { cpu: { softMs: 300, hardMs: 10_000 } },
    );
    const first = await (await fixture.get("importer")).text();

    await Promise.all([
      fixture.get("importer", "?wait=1200"),
      fixture.get("burner", "?burn=1500").then((response) => response.text()),
    ]);

    assert.equal(await (await fixture.get("importer")).text(), first);
    assert.equal(eventsOf(fixture.logs, "isolate.retired")[0]?.function, "burner");
  },
);

cpuTest("without CPU limits an isolate keeps running, and its end reports the usage", async () => {
  await using fixture = await startHost({ burner: BURNER }, { cpu: null });
  const first = await (await fixture.get("burner", "?burn=500")).text();

  const again = await (await fixture.get("burner")).text();
  await fixture.host.stop();

  assert.equal(again, first);
  const [ended] = eventsOf(fixture.logs, "isolate.ended");
  assert.ok(Number(ended?.cpu_ms) > 0, `it has used ${ended?.cpu_ms} ms`);
});
