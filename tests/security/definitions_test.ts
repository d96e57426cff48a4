import { definitionSteps } from "./definition_steps.ts";

Deno.test("operators define tables, and everybody else proposes migrations", (t) =>
  definitionSteps(t, "pglite"));
