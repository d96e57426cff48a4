import { executeSqlSteps } from "../security/execute_sql_steps.ts";

Deno.test("on native Postgres, execute_sql runs only what its caller may run", (t) =>
  executeSqlSteps(t, "native"));
