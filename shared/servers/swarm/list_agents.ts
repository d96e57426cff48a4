import { z } from "../../vendor/zod.js";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

const agentSchema = z.object({
  slug: z.string().describe("The agent for create_task"),
  name: z.string(),
  description: z.string().nullable(),
  tools: z.array(z.string()).describe("Slugs of the tool servers that it may use"),
  skills: z.array(z.string()),
  hands_off_to: z.array(z.string()).describe("An empty list means every agent"),
});

/** Lists the agents that can get a task. */
export const listAgentsTool = defineTool({
  name: "list_agents",
  title: "List agents",
  description: "Lists the active agents with their purpose, tools and skills.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({}),
  output: z.object({ agents: z.array(agentSchema) }),
  async run(_args, context) {
    const rows = await asOwner(context, "read", (sql) =>
      sql`
      select jsonb_build_object(
        'slug', agent.slug, 'name', agent.name, 'description', agent.description,
        'tools', (select coalesce(jsonb_agg(tool.slug order by tool.slug), '[]')
          from public.agent_tools as granted
          join public.tools as tool on tool.id = granted.tool_id and tool.is_active
          where granted.agent_id = agent.id),
        'skills', (select coalesce(jsonb_agg(skill.skill_id order by given.priority), '[]')
          from public.agent_skills as given
          join public.skills as skill on skill.id = given.skill_id
          where given.agent_id = agent.id),
        'hands_off_to', (select coalesce(jsonb_agg(target.slug order by target.slug), '[]')
          from public.agent_handoffs as handoff
          join public.agents as target on target.id = handoff.target_agent_id
          where handoff.agent_id = agent.id)
      ) as agent
      from public.agents as agent
      where agent.is_active
      order by agent.slug`);
    return { agents: rows.map((row) => agentSchema.parse(row.agent)) };
  },
});
