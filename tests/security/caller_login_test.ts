import { callerLoginSteps } from "./caller_login_steps.ts";

Deno.test("what runs as a caller has the caller's rights and no others", (t) =>
  callerLoginSteps(t, "pglite"));
