import assert from "node:assert/strict";
import { createCpuMeter } from "./cpu_meter.ts";

Deno.test("a meter counts from its creation", () => {
  let measuredMs = 500;
  const meter = createCpuMeter(() => measuredMs);

  measuredMs = 600;

  assert.equal(meter.usedMs(), 100);
});

Deno.test("a proof corrects what was measured and what will be", () => {
  let measuredMs = 0;
  const meter = createCpuMeter(() => measuredMs);
  measuredMs = 125;

  meter.limitTo(100);
  measuredMs = 225;

  assert.equal(meter.usedMs(), 180);
});

Deno.test("a proof of more than was measured changes nothing", () => {
  let measuredMs = 0;
  const meter = createCpuMeter(() => measuredMs);
  measuredMs = 200;

  meter.limitTo(1_000);

  assert.equal(meter.usedMs(), 200);
});

Deno.test("the thread's CPU time grows while it computes", () => {
  const meter = createCpuMeter();

  // On a busy machine, time passes without CPU.
  const endMs = performance.now() + 10_000;
  while (meter.usedMs() <= 1 && performance.now() < endMs) meter.burn(5);

  assert.ok(meter.usedMs() > 1);
});
