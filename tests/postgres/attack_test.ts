import { attackSteps } from "../security/attack_steps.ts";

Deno.test("on native Postgres, statements of an attacker are refused, and their twins run", (t) =>
  attackSteps(t, "native"));
