import { SwarmError } from "../errors/swarm_error.ts";
import type { AgentCaller, Caller } from "./caller.ts";
import { ACTOR_HEADER, TASK_HEADER, TOOL_TOKEN_HEADER } from "./actor_headers.ts";

/** Identifies the agent behind a request. */
export interface AgentDirectory {
  /** @throws SwarmError `UNAUTHORIZED` if the token is unknown or no longer valid. */
  agentOfToken(token: string): Promise<AgentCaller>;
  /**
   * @param userId The required owner of the task; null accepts any.
   * @throws SwarmError `TASK_NOT_FOUND`
   */
  agentOfTask(taskId: string, userId: string | null): Promise<AgentCaller>;
}

/** The tool call's token in a request, or null. */
export function toolTokenOf({ headers }: Request): string | null {
  return headers.get(TOOL_TOKEN_HEADER);
}

/** Whether a request is marked as sent by an agent's tool, regardless of its credential. */
export function isSentByAgent({ headers }: Request): boolean {
  return headers.get(ACTOR_HEADER) === "agent" || headers.has(TOOL_TOKEN_HEADER);
}

/**
 * The agent behind a request whose credential is a person's or the project's.
 *
 * @throws SwarmError `AGENT_NOT_ALLOWED` for a secret key without a task, which would have all
 * permissions; `TASK_NOT_FOUND`.
 */
export async function agentBehind(
  request: Request,
  holder: Caller,
  agents: AgentDirectory,
): Promise<AgentCaller> {
  const taskId = request.headers.get(TASK_HEADER);
  const userId = holder.kind === "service" ? null : holder.userId;
  if (taskId !== null) {
    const agent = await agents.agentOfTask(taskId, userId);
    return { ...agent, clientId: holder.kind === "user" ? holder.clientId : null };
  }
  if (holder.kind !== "user") {
    throw agentNotAllowed("act with a secret key", "Call with the token of the tool call.");
  }
  return { ...holder, kind: "agent", agentId: null, taskId: null };
}

/** Creates the error for an action reserved for people and the service. */
export function agentNotAllowed(attempt: string, hint: string): SwarmError {
  return new SwarmError(
    "AGENT_NOT_ALLOWED",
    `Cannot ${attempt}: an agent may not do this on its owner's behalf`,
    { hint },
  );
}
