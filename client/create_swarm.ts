import { Accounts } from "./accounts.ts";
import type { ChatOptions } from "./chat.ts";
import { Documents } from "./documents.ts";
import { Files } from "./files.ts";
import { type InstalledNames, withInstalledNames } from "./installed_names.ts";
import { Job, type ReadOptions } from "./job.ts";
import { JobChannels } from "./job_channels.ts";
import { JobView, type ViewOptions } from "./job_view.ts";
import { SwarmChat } from "./lazy_chat.ts";
import { Jobs, snakeCased } from "./jobs.ts";
import type { Json, JsonObject } from "./json.ts";
import { Pauses } from "./pauses.ts";
import { Reviews } from "./reviews.ts";
import { callFunction, type RequestOptions, type SupabaseLike } from "./supabase.ts";
import { isTransient } from "./swarm_client_error.ts";
import { type AnyTools, type ToolResult, Tools } from "./tools.ts";
import { backoffMs, pause } from "./waiting.ts";

/** The types of a project, as `supaswarm types` prints them. */
export interface SwarmTypes {
  /** Agents by slug, each `{ input, output }`. */
  readonly agents: object;
  /** Tools by server and name, each `{ arguments, result }`. @default any */
  readonly tools?: object;
}

/** The types without generated ones: any agent, with any input and output. */
export interface AnyAgents extends SwarmTypes {
  readonly agents: { readonly [slug: string]: { input: string | JsonObject; output: Json } };
}

/** Slugs of agents. */
export type AgentOf<Types extends SwarmTypes> = keyof Types["agents"] & string;

/** The input of an agent. */
export type InputOf<Types extends SwarmTypes, Slug extends AgentOf<Types>> =
  Types["agents"][Slug] extends { input: infer Input } ? Input : string | JsonObject;

/** The output of an agent. */
export type OutputOf<Types extends SwarmTypes, Slug extends AgentOf<Types>> =
  Types["agents"][Slug] extends { output: infer Output } ? Output : Json;

/** The tools of a project. */
export type ToolsOf<Types extends SwarmTypes> = Types extends
  { readonly tools: infer Known extends object } ? Known
  : AnyTools;

/** Caps of a whole job; null removes one. */
export interface Budget {
  readonly maxInputTokens?: number | null;
  readonly maxOutputTokens?: number | null;
  readonly maxCostMicroUsd?: number | null;
  readonly maxSteps?: number | null;
  readonly maxDepth?: number | null;
  readonly maxTasks?: number | null;
  readonly maxWallSeconds?: number | null;
}

/** Parts of an agent, as its file names them. */
export interface AgentChanges {
  /** @default the provider that lists the model */
  readonly provider?: string;
  /** @default the default model of the provider */
  readonly model?: string;
  readonly prompt?: string;
  /** Null for the provider's default. */
  readonly temperature?: number | null;
  /** Null for the provider's default. */
  readonly reasoning_effort?: string | null;
  /** All tools that the agent has in this job. */
  readonly tools?: readonly AgentToolChange[];
}

/** A tool of an agent. */
export interface AgentToolChange {
  readonly tool: string;
  /** Names of a server's tools. @default all */
  readonly allowed_tools?: readonly string[];
}

/** How a job runs. */
export interface RunOptions extends RequestOptions {
  /** A repeated key returns the existing job. @default a new key */
  readonly idempotencyKey?: string;
  /** The job does not start before this time. */
  readonly runAfter?: Date | string;
  readonly priority?: "high" | "normal" | "low";
  readonly concurrencyKey?: string;
  readonly metadata?: JsonObject;
  readonly maxAttempts?: number;
  /** JSON Schema of the output, instead of the agent's. */
  readonly outputSchema?: JsonObject;
  readonly budget?: Budget;
  /** Parts of the agent that this job replaces. For callers with the scope `swarm:configure`. */
  readonly agentChanges?: AgentChanges;
  /** The id of a task of the user that this job repeats. */
  readonly repeatOf?: string;
  /** Streams the first answer's text too; for `job.text`. */
  readonly watch?: boolean;
}

/** A grade of a tool call. */
export interface Grade {
  readonly rating?: "up" | "down";
  /** 1 to 5. */
  readonly score?: number;
  readonly comment?: string;
}

/** The whole grade of a tool call, as it is stored. */
export interface StoredGrade {
  readonly rating: "up" | "down" | null;
  readonly rating_score: number | null;
  readonly comment: string | null;
}

/** Attempts to create a job whose answer was lost. */
const MAX_RUN_ATTEMPTS = 4;

/** The platform, as the user who is signed in with the `supabase-js` client. */
export class Swarm<Types extends SwarmTypes = AnyAgents> {
  readonly jobs: Jobs;
  readonly reviews: Reviews;
  readonly pauses: Pauses;
  readonly tools: Tools<ToolsOf<Types>>;
  readonly accounts: Accounts;
  readonly files: Files;
  readonly documents: Documents;
  readonly #supabase: SupabaseLike;
  readonly #channels: JobChannels;

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
    this.#channels = new JobChannels(supabase);
    this.jobs = new Jobs(supabase, this.#channels);
    this.reviews = new Reviews(supabase, this.#channels);
    this.pauses = new Pauses(supabase, this.#channels);
    this.tools = new Tools(supabase);
    this.accounts = new Accounts(supabase);
    this.files = new Files(supabase);
    this.documents = new Documents(new Tools(supabase));
  }

  /**
   * Starts a job. If the answer is lost, it asks again with the same key, so it starts one job.
   *
   * @param options Its signal also ends the loops of the job's handle. A job may have started
   *   although the signal ended the request.
   * @throws SwarmClientError such as `AGENT_NOT_FOUND`
   */
  async run<Slug extends AgentOf<Types>>(
    agent: Slug,
    input: InputOf<Types, Slug>,
    { signal, budget, ...options }: RunOptions = {},
  ): Promise<Job<OutputOf<Types, Slug>>> {
    const body = {
      ...snakeCased(options),
      idempotency_key: options.idempotencyKey ?? newKey(),
      ...budget === undefined ? {} : { budget: snakeCased(budget) },
      agent,
      input,
    };
    for (let attempt = 1;; attempt++) {
      try {
        const { task_id: id } = await callFunction<{ task_id: string }>(
          this.#supabase,
          "supaswarm-create-task",
          { body, signal },
        );
        return this.job(id, { signal });
      } catch (error) {
        if (!isTransient(error) || attempt === MAX_RUN_ATTEMPTS) throw error;
        await pause(backoffMs(attempt), signal);
      }
    }
  }

  /**
   * A handle of an existing job. It asks the platform nothing yet.
   *
   * @param options `after`, the stored `job.cursor` of another handle, for its further events.
   */
  job<Output = Json>(id: string, options: ReadOptions = {}): Job<Output> {
    return new Job<Output>({ supabase: this.#supabase, channels: this.#channels }, id, options);
  }

  /**
   * A job as a state for pages; `useJob` of `supaswarm/react` and `supaswarm/vue` returns it.
   *
   * @param id Null for no job yet.
   */
  view<Output = Json>(id: string | null, options: ViewOptions = {}): JobView<Output> {
    return new JobView<Output>(id === null ? null : this.job<Output>(id), options);
  }

  /**
   * A `ChatTransport` for the AI SDK's `useChat`: the agent answers in durable jobs.
   *
   * @example
   * const chat = swarm.chat("writer");
   * const { messages, sendMessage } = useChat({ id, transport: chat, resume: true });
   */
  chat<Slug extends AgentOf<Types>>(agent: Slug, options: ChatOptions = {}): SwarmChat {
    const context = { supabase: this.#supabase, channels: this.#channels };
    return new SwarmChat(async () => {
      const { openChat } = await import("./chat.ts");
      return openChat(context, { agent, files: this.files, options });
    });
  }

  /**
   * Grades a tool call, or changes a part of its grade.
   *
   * @param call The call's result, or its `feedback_token`.
   * @throws SwarmClientError
   */
  async feedback(
    call: string | Pick<ToolResult, "_meta">,
    { rating, score, comment }: Grade,
    options: RequestOptions = {},
  ): Promise<StoredGrade> {
    return await callFunction<StoredGrade>(this.#supabase, "mcp-feedback", {
      ...options,
      body: {
        feedback_token: typeof call === "string" ? call : call._meta.feedback_token,
        rating,
        rating_score: score,
        comment,
      },
    });
  }
}

/** A `supabase-js` client joins each channel once, so one swarm per client shares them. */
const swarms = new WeakMap<SupabaseLike, Map<string, Swarm<never>>>();

/**
 * Uses the platform with your own `supabase-js` client, as its user. The same client gets the same
 * swarm, so a component may call this while it renders.
 *
 * @param names Where `supaswarm init` has installed the platform, such as `{ schema: "supaswarm" }`.
 *
 * @example
 * const swarm = createSwarm(createClient(url, publishableKey));
 * const job = await swarm.run("writer", { topic: "webhooks" });
 * console.log(await job.result());
 */
export function createSwarm<Types extends SwarmTypes = AnyAgents>(
  supabase: SupabaseLike,
  names: InstalledNames = {},
): Swarm<Types> {
  const key = JSON.stringify([names.schema, names.functions]);
  const known = swarms.get(supabase) ?? new Map<string, Swarm<never>>();
  const swarm = known.get(key) as Swarm<Types> | undefined ??
    new Swarm<Types>(withInstalledNames(supabase, names));
  swarms.set(supabase, known.set(key, swarm as unknown as Swarm<never>));
  return swarm;
}

/** Unlike `randomUUID()`, this works on pages without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
