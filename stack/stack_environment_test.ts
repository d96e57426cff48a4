import assert from "node:assert/strict";
import { join } from "node:path";
import { functionLimits, readEnvironment } from "./stack_environment.ts";

Deno.test("readEnvironment() reads .env, and the process's variables take precedence", async () => {
  const projectRoot = await Deno.makeTempDir();
  await Deno.writeTextFile(join(projectRoot, ".env"), 'PATH=/nowhere\n# note\nNEW_KEY="a b"\n');

  const environment = await readEnvironment(projectRoot);

  assert.equal(environment["NEW_KEY"], "a b");
  assert.equal(environment["PATH"], Deno.env.get("PATH"));
  await Deno.remove(projectRoot, { recursive: true });
});

Deno.test("readEnvironment() treats an empty variable of .env as unset", async () => {
  const projectRoot = await Deno.makeTempDir();
  await Deno.writeTextFile(join(projectRoot, ".env"), 'EMPTY_A=\nEMPTY_B=""\nPATH=\n');

  const environment = await readEnvironment(projectRoot);

  assert.deepEqual(["EMPTY_A" in environment, "EMPTY_B" in environment], [false, false]);
  assert.equal(environment["PATH"], Deno.env.get("PATH"));
  await Deno.remove(projectRoot, { recursive: true });
});

Deno.test("functionLimits() are the hosted platform's unless set", () => {
  assert.deepEqual(functionLimits({}), {
    wallClockMs: 400_000,
    cpu: { softMs: 1_000, hardMs: 2_000 },
  });
  assert.deepEqual(
    functionLimits({
      SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: "2.5",
      SUPASWARM_CPU_SOFT_MS: "200",
      SUPASWARM_CPU_HARD_MS: "500",
    }),
    { wallClockMs: 2_500, cpu: { softMs: 200, hardMs: 500 } },
  );
  assert.equal(functionLimits({ SUPASWARM_CPU_HARD_MS: "0" }).cpu, null);
});

Deno.test("functionLimits() refuses a non-number, and a soft limit above the hard one", () => {
  const refusals: readonly [Record<string, string>, RegExp][] = [
    [{ SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: "soon" }, /WALL_CLOCK_SECONDS: it is 'soon'/],
    [{ SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: "0" }, /WALL_CLOCK_SECONDS: it is '0'/],
    [{ SUPASWARM_CPU_HARD_MS: "-1" }, /SUPASWARM_CPU_HARD_MS: it is '-1'/],
    [{ SUPASWARM_CPU_SOFT_MS: "3000" }, /SUPASWARM_CPU_SOFT_MS: it is 3000, more than/],
  ];

  for (const [environment, message] of refusals) {
    assert.throws(() => functionLimits(environment), message);
  }
});
