import { approvalsSteps } from "../security/approvals_steps.ts";

Deno.test("a person approves what an agent may not decide, on native Postgres", (t) =>
  approvalsSteps(t, "native"));
