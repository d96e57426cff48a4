import { z } from "../../vendor/zod.js";
import type { AgentDirectory } from "../http/agent_credential.ts";
import type { AgentCaller } from "../http/caller.ts";
import type { Sql } from "./sql_client.ts";
import { toSwarmError } from "./to_swarm_error.ts";
import { sha256Hex } from "../values/sha256_hex.ts";

const agentSchema = z.object({
  user_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  task_id: z.string().nullable(),
  client_id: z.string().nullable(),
});

/** The agents' tokens and tasks in the database. */
export function createAgentDirectory(sql: Sql): AgentDirectory {
  return {
    async agentOfToken(token) {
      try {
        const [row] = await sql`
          select private.agent_of_token(${sha256Hex(token)}) as agent`;
        return toCaller(row?.agent);
      } catch (error) {
        throw toSwarmError(error, "authenticate the request");
      }
    },
    async agentOfTask(taskId, userId) {
      try {
        const [row] = await sql`
          select private.agent_of_task(${z.guid().nullable().catch(null).parse(taskId)}::uuid,
            ${userId}::uuid) as agent`;
        return toCaller(row?.agent);
      } catch (error) {
        throw toSwarmError(error, "authenticate the request");
      }
    },
  };
}

function toCaller(agent: unknown): AgentCaller {
  const { user_id, agent_id, task_id, client_id } = agentSchema.parse(agent);
  return {
    kind: "agent",
    userId: user_id,
    agentId: agent_id,
    taskId: task_id,
    clientId: client_id,
  };
}
