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

/** Asks a caller that can be asked for a write's confirmation; the token is the form's state. */
export function askToConfirm(question: string, token: string): InputRequired {
  return inputRequired({
    confirmation: {
      method: "elicitation/create",
      params: { message: question, requestedSchema: FORM },
    },
  }, token);
}

/** Whether the form came back with a yes. */
export function isConfirmed({ inputResponses }: ToolContext): boolean {
  const response = inputResponses?.confirmation;
  return isJsonObject(response) && response.action === "accept" &&
    isJsonObject(response.content) && response.content.confirmed === true;
}
