import { z } from "../../vendor/zod.js";
import type { ErrorCode } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Caller } from "../../platform/http/authenticate.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";

/** A draft has no connection, and only its author tries it. */
const NOT_WITH_DRAFT = ["connection_id", "session_id", "agent_id", "on_behalf_of", "task_id"];

/** The code of the error for the character U+0000 at a path of the body. */
export function codeOfNul(path: string): ErrorCode {
  return /^parameters\b/.test(path) ? "TOOL_ARGUMENTS_INVALID" : "BODY_INVALID";
}

/** Body of `POST /functions/v1/mcp-execute`. */
export const executeRequest = z.strictObject({
  /** An id in `agent_mcp_connections`, which also identifies the server. */
  connection_id: z.guid().optional(),
  /** `tools.slug`. */
  server: z.string().min(1).max(63).optional(),
  /** The server's name for it, or with its version: `enhance_prompt@1`. */
  tool_name: z.string().min(1).max(300).optional(),
  parameters: jsonObject.default({}),
  /** Groups calls that belong together; any UUID. */
  session_id: z.guid().optional(),
  /** Only with a secret key. */
  agent_id: z.guid().optional(),
  /** Only with a secret key: the user whose rights apply. */
  on_behalf_of: z.guid().optional(),
  /** Only with a secret key: the call acts as the task's owner. */
  task_id: z.guid().optional(),
  /**
   * Calls a tool of this definition as if it were saved as `server`; without `tool_name`, lists its
   * tools.
   */
  draft: z.strictObject({ kind: z.enum(["tool", "server"]), definition: jsonObject }).optional(),
}).refine(
  ({ connection_id, server }) => connection_id !== undefined || server !== undefined,
  { message: "send it or connection_id", path: ["server"] },
).refine(
  ({ tool_name, draft }) => tool_name !== undefined || draft !== undefined,
  { message: "send it", path: ["tool_name"] },
).refine(
  (request) => request.draft === undefined || NOT_WITH_DRAFT.every((name) => !(name in request)),
  { message: `send it without ${NOT_WITH_DRAFT.join(", ")}`, path: ["draft"] },
);

/** A checked request to call a tool. */
export type ExecuteRequest = z.infer<typeof executeRequest>;

/**
 * Refuses arguments with which a user could act as somebody else.
 *
 * @throws FORBIDDEN
 */
export function assertMayActFor(request: ExecuteRequest, caller: Caller): void {
  if (caller.kind === "service") return;
  const given = (["agent_id", "on_behalf_of", "task_id"] as const)
    .filter((name) => request[name] !== undefined);
  if (given.length === 0) return;
  throw new SwarmError(
    "FORBIDDEN",
    `Cannot call the tool with ${given.join(" and ")}: this requires a secret key`,
    {
      hint: `Omit ${given.join(" and ")}, or call from a server with a secret key.`,
    },
  );
}
