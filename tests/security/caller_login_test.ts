import { callerLoginSteps } from "./caller_login_steps.ts";

Deno.test("code that runs as a caller has only the caller's permissions", (t) =>
  callerLoginSteps(t, "pglite"));
