import { attackSteps } from "./attack_steps.ts";

Deno.test("statements of an attacker are refused, and their legitimate twins run", (t) =>
  attackSteps(t, "pglite"));
