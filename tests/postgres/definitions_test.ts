import { definitionSteps } from "../security/definition_steps.ts";

Deno.test("on native Postgres, operators define tables, and everybody else proposes migrations", (t) =>
  definitionSteps(t, "native"));
