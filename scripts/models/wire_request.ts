import { z } from "../../shared/vendor/zod.js";
import type { ScriptedMessage, ScriptedRequest } from "./scripted_agent.ts";

const partSchema = z.object({ text: z.string().optional() });

const messageSchema = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  tool_call_id: z.string().optional(),
  tool_calls: z.array(z.object({
    id: z.string(),
    function: z.object({ name: z.string(), arguments: z.string() }),
  })).optional(),
});

const requestSchema = z.object({
  model: z.string(),
  /** The name of the model server's library for what `model_server.ts` reads from the header. */
  _context: z.string().optional(),
  messages: z.array(messageSchema),
  tools: z.array(z.object({
    function: z.object({ name: z.string(), description: z.string().nullish() }),
  })).optional(),
});

const googleResultSchema = z.union([
  z.strictObject({ output: z.string() }).transform(({ output }) => output),
  z.strictObject({ error: z.string() }).transform(({ error }) => error),
]);

/** Reads a request as the model server hands it over: all three formats as chat completions. */
export function parseWireRequest(wire: unknown): ScriptedRequest {
  const { model, _context: agent = null, messages, tools = [] } = requestSchema.parse(wire);
  const isSystem = (message: { role: string }) => message.role === "system";
  const nameOfCall = new Map(
    messages.flatMap(({ tool_calls = [] }) =>
      tool_calls.map((call): [string, string] => [call.id, call.function.name])
    ),
  );
  return {
    agent,
    model,
    system: messages.filter(isSystem).map(({ content }) => toText(content)).join("\n\n"),
    messages: messages.filter((message) => !isSystem(message)).map((message) =>
      toScriptedMessage(message, nameOfCall)
    ),
    toolNames: tools.map((tool) => tool.function.name),
    toolDescriptions: new Map(
      tools.map((tool): [string, string] => [tool.function.name, tool.function.description ?? ""]),
    ),
  };
}

function toScriptedMessage(
  message: z.infer<typeof messageSchema>,
  nameOfCall: ReadonlyMap<string, string>,
): ScriptedMessage {
  const { role, content, tool_calls = [], tool_call_id: callId = "" } = message;
  const text = toText(content);
  if (role === "assistant") {
    const calls = tool_calls.map((call) => ({
      callId: call.id,
      name: call.function.name,
      argumentsText: call.function.arguments,
    }));
    return { role, text, calls };
  }
  if (role === "tool") {
    return { role, callId, name: nameOfCall.get(callId) ?? "", text: unwrapResult(text) };
  }
  return { role: "user", text };
}

/** Google's format wraps a result's text into an object. */
function unwrapResult(text: string): string {
  if (!text.startsWith("{")) return text;
  try {
    return googleResultSchema.safeParse(JSON.parse(text)).data ?? text;
  } catch {
    return text; // A text that merely begins like JSON.
  }
}

function toText(content: z.infer<typeof messageSchema>["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
