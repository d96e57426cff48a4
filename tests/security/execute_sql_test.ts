import { executeSqlSteps } from "./execute_sql_steps.ts";

Deno.test("execute_sql runs only what its caller may run", (t) => executeSqlSteps(t, "pglite"));
