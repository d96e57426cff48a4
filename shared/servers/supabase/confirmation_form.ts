import { isJsonObject, type JsonObject } from "../../json.ts";
import {
  type InputRequired,
  inputRequired,
  type ToolContext,
} from "../../tool_contracts/internal_server.ts";

const FORM: JsonObject = {
  type: "object",
  properties: { confirmed: { type: "boolean", title: "Run this write" } },
  required: ["confirmed"],
};

/** Asks the caller to confirm a write in a form; the token is the form's state. */
export function askToConfirm(question: string, token: string): InputRequired {
  return inputRequired({
    confirmation: {
      method: "elicitation/create",
      params: { message: question, requestedSchema: FORM },
    },
  }, token);
}

/** Whether the caller confirmed the form. */
export function isConfirmed({ inputResponses }: ToolContext): boolean {
  const response = inputResponses?.confirmation;
  return isJsonObject(response) && response.action === "accept" &&
    isJsonObject(response.content) && response.content.confirmed === true;
}
