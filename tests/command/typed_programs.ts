/** A statement of a client with a mistake, and what the types say about it. */
export interface Mistake {
  readonly statement: string;
  readonly error: RegExp;
}

/** A client that uses the types of a project. */
export const CLIENT = `
import { createClient } from "@supabase/supabase-js";
import { createSwarm, type FunctionBodies } from "supaswarm/client";
import { type Database, names, type Project } from "./supaswarm.types.ts";

const supabase = createClient<Database, typeof names.schema>("https://project.example", "key", {
  db: { schema: names.schema },
});
const swarm = createSwarm<Project>(supabase, names);
const job = await swarm.run("writer", { topic: "webhooks", files: ["notes.md"] });
const found = await swarm.tools.call({ server: "weather", name: "forecast" }, { city: "Zurich" });
`;

/** What a correct client does with it. */
export const STATEMENTS = `
export const words: number = (await job.result()).words;
if (await job.status() === "completed") await job.retry();
for await (const event of job) {
  if (event.type === "review.requested") await job.respond(event, { approved: event.data.kind === "call" });
  if (event.type === "task.failed") throw new Error(event.data.error.message);
}
export const running = await swarm.jobs.list({ status: ["pending", "running"] });
export const listed = await swarm.tools.call({ server: "swarm", name: "list_agents" });
export const stock = await swarm.tools.call({ server: "stock", name: "stock" }, { sku: "A1" });
export const degrees: number | undefined = found.structuredContent?.degrees;
export const endpoint: "supaswarm-mcp" = names.functions.mcp;
export const { results } = await swarm.documents.search("docs", "webhooks");
export const { data: tasks } = await supabase.from("tasks")
  .select("id, status, agents (slug)").eq("status", "running").eq("priority", "high");
export const slug: string | undefined = tasks?.[0]?.agents?.slug;
export const { data: cancelled } = await supabase.rpc("cancel_task", { p_master_task_id: job.id });
export const count: number | null = cancelled;
export const { data: jobs } = await supabase.rpc("list_jobs", { p_limit: 10 });
export const isFinished: boolean = jobs?.[0]?.status === "completed";
await supabase.functions.invoke("supaswarm-create-task", {
  body: { agent: "writer", input: "webhooks" } satisfies FunctionBodies["supaswarm-create-task"],
});
`;

/** Mistakes by what is wrong. */
export const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  "a field of a body": [
    { statement: 'swarm.run("writer", { topics: "webhooks" });', error: /'topics' does not exist/ },
    {
      statement: 'swarm.run("writer", "webhooks");',
      error: /'string' is not assignable to parameter/,
    },
    {
      statement: 'swarm.run("writr", { topic: "webhooks" });',
      error: /"writr"' is not assignable/,
    },
    {
      statement:
        '({ agent: "writer", inputs: {} }) satisfies FunctionBodies["supaswarm-create-task"];',
      error: /'inputs' does not exist/,
    },
  ],
  "a field of a result": [
    { statement: "(await job.result()).word;", error: /'word' does not exist/ },
    {
      statement: '(await supabase.from("tasks").select("id, outputs")).data?.[0]?.id;',
      error: /column 'outputs' does not exist on 'tasks'/,
    },
    {
      statement:
        '(await supabase.from("agents").select("system_prompt")).data?.[0]?.system_prompt;',
      error: /column 'system_prompt' does not exist on 'agents'/,
    },
  ],
  "an argument of an HTTP API that nobody has called": [
    {
      statement: 'swarm.tools.call({ server: "stock", name: "stock" }, { skus: "A1" });',
      error: /'skus' does not exist/,
    },
  ],
  "a status": [
    { statement: 'if (await job.status() === "complete") throw 0;', error: /have no overlap/ },
    { statement: 'swarm.jobs.list({ status: "done" });', error: /"done"' is not assignable/ },
    {
      statement: 'supabase.from("tasks").select("id").eq("status", "done");',
      error: /"done"' is not assignable/,
    },
  ],
  "an argument of an RPC": [
    {
      statement: 'supabase.rpc("cancel_task", { task_id: job.id });',
      error: /'task_id' does not exist|p_master_task_id/,
    },
    {
      statement: 'supabase.rpc("fork_task", { p_task_id: job.id, p_from_seq: "3" });',
      error: /'string' is not assignable to type 'number'/,
    },
  ],
  "the name of an RPC": [
    {
      statement: 'supabase.rpc("cancel_job", { p_master_task_id: job.id });',
      error: /"cancel_job"' is not assignable/,
    },
  ],
  "the name of an event": [
    {
      statement: 'for await (const event of job) if (event.type === "review.ask") break;',
      error: /have no overlap/,
    },
  ],
  "a field of an event's data": [
    {
      statement:
        'for await (const event of job) if (event.type === "task.failed") event.data.code;',
      error: /'code' does not exist/,
    },
  ],
  "a tool": [
    {
      statement: 'swarm.tools.call({ server: "swarm", name: "list_agent" });',
      error: /"list_agent"' is not assignable/,
    },
    {
      statement: 'swarm.tools.call({ server: "weather", name: "forecast" });',
      error: /Expected 2-3 arguments/,
    },
    {
      statement: 'swarm.tools.call({ server: "weather", name: "forecast" }, { town: "Zurich" });',
      error: /'town' does not exist/,
    },
    { statement: "found.structuredContent?.celsius;", error: /'celsius' does not exist/ },
  ],
};

/** Types of a project's own tables, as `supabase gen types` writes them. */
export const OWN_TYPES = `
export type Database = {
  public: {
    Tables: {
      orders: {
        Row: { id: number; title: string };
        Insert: { title: string };
        Update: { title?: string };
        Relationships: [];
      };
    };
    Views: { [_ in never]: never };
    Functions: { [_ in never]: never };
    Enums: { [_ in never]: never };
    CompositeTypes: { [_ in never]: never };
  };
};
`;
