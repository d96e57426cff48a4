import { toInputSchema } from "../../platform/values/json_schema.ts";
import {
  type InputRequired,
  inputRequired,
  type ToolContext,
} from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";

const form = z.object({ confirmed: z.boolean().meta({ title: "Run this write" }) });
const accepted = z.object({
  confirmation: z.object({
    action: z.literal("accept"),
    content: z.object({ confirmed: z.literal(true) }),
  }),
});

/** Asks the caller to confirm a write in a form; the token is the form's state. */
export function askToConfirm(question: string, token: string): InputRequired {
  return inputRequired({
    confirmation: {
      method: "elicitation/create",
      params: { message: question, requestedSchema: toInputSchema(form) },
    },
  }, token);
}

/** Whether the caller confirmed the form. */
export function isConfirmed({ inputResponses }: ToolContext): boolean {
  return accepted.safeParse(inputResponses).success;
}
