// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { isSignedIn } from "../project/session.ts";

const MINUTE_MS = 60_000;

async function readAgents() {
  return dataOf(
    await projectClient().from("agents").select(
      "id,slug,name,description,model,output_schema," +
        "provider:llm_providers(name,display_name,default_model)," +
        "agent_tools(allowed_tools,tool:tools(slug,name))," +
        "agent_skills(skill:skills(skill_id,name,description))," +
        "agent_handoffs!agent_handoffs_agent_id_fkey(target:agents!agent_handoffs_target_agent_id_fkey(slug,name))",
    ).eq("is_active", true).order("name"),
  ) as unknown as Agent[];
}

/** An agent that the user may run. */
export interface Agent {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly model: string | null;
  readonly output_schema: unknown;
  readonly provider: {
    readonly name: string;
    readonly display_name: string;
    readonly default_model: string;
  } | null;
  readonly agent_tools: readonly {
    readonly allowed_tools: readonly string[] | null;
    readonly tool: { readonly slug: string; readonly name: string } | null;
  }[];
  readonly agent_skills: readonly {
    readonly skill: {
      readonly skill_id: string;
      readonly name: string;
      readonly description: string;
    } | null;
  }[];
  readonly agent_handoffs: readonly {
    readonly target: { readonly slug: string; readonly name: string } | null;
  }[];
}

/** The agents that the user may run, with their tools, skills and handoffs. */
export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: readAgents,
    enabled: computed(() => isSignedIn.value),
    staleTime: MINUTE_MS,
  });
}
