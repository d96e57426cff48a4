import { executeSqlSteps } from "../security/execute_sql_steps.ts";

Deno.test("on native Postgres, execute_sql runs what its caller may run, and nothing else", (t) =>
  executeSqlSteps(t, "native"));
