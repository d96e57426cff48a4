import { callerLoginSteps } from "../security/caller_login_steps.ts";

Deno.test("on native Postgres, code that runs as a caller has only the caller's permissions", (t) =>
  callerLoginSteps(t, "native"));
