import { callerLoginSteps } from "../security/caller_login_steps.ts";

Deno.test("on native Postgres, what runs as a caller has the caller's rights and no others", (t) =>
  callerLoginSteps(t, "native"));
