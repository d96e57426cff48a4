import { executeSqlSteps } from "./execute_sql_steps.ts";

Deno.test("execute_sql runs what its caller may run, and nothing else", (t) =>
  executeSqlSteps(t, "pglite"));
