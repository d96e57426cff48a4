import { approvalsSteps } from "./approvals_steps.ts";

Deno.test("a person approves what an agent may not decide", (t) => approvalsSteps(t, "pglite"));
