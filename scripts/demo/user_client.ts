import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";
import { createSwarm, type Job } from "../../client/mod.ts";
import { type TraceEvent, traceEventSchema } from "./trace_event.ts";

/** The platform's addresses and key for a client. */
export interface Project {
  readonly apiUrl: string;
  readonly publishableKey: string;
}

/** A signed-in user with the real `supabase-js` client. */
export interface DemoUser {
  readonly client: SupabaseClient;
  readonly accessToken: string;
}

/** Signs up a user. @throws Error when the platform refuses. */
export async function signUp(project: Project, name: string): Promise<DemoUser> {
  const { createClient } = await loadSupabaseJs();
  const client = createClient(project.apiUrl, project.publishableKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
  const { data, error } = await client.auth.signUp({
    email: `${name}@example.test`,
    password: crypto.randomUUID(),
  });
  if (error !== null) throw error;
  if (data.session === null) throw new Error("Cannot sign up: the response has no session");
  return { client, accessToken: data.session.access_token };
}

/** A job with its events, for its owner. */
export interface FollowedJob {
  readonly job: Job;
  readonly taskId: string;
  /** Events received over Realtime, in order of arrival. */
  readonly received: readonly TraceEvent[];
  /** Resolves with the first event that satisfies `isWanted`, received before or after the call. */
  until(isWanted: (event: TraceEvent) => boolean, what: string): Promise<TraceEvent>;
}

/** Starts a job and listens to its channel, because the demo proves what Realtime sends. */
export async function createJob(
  { client }: DemoUser,
  { input, onEvent }: {
    readonly input: Readonly<Record<string, string>>;
    readonly onEvent?: (event: TraceEvent) => void;
  },
): Promise<FollowedJob> {
  const job = await createSwarm(client).run("planner", input);
  return await follow(job, onEvent);
}

async function follow(
  job: Job,
  onEvent: ((event: TraceEvent) => void) | undefined,
): Promise<FollowedJob> {
  const received: TraceEvent[] = [];
  const waiting = new Set<() => void>();
  const joined = Promise.withResolvers<void>();
  job.listen({
    onMessage: ({ event, payload }) => {
      const traced = { type: event, ...traceEventSchema.parse(payload) };
      received.push(traced);
      onEvent?.(traced);
      for (const check of waiting) check();
    },
    onJoined: (isJoined) => isJoined && joined.resolve(),
  });
  await joined.promise;
  return {
    job,
    taskId: job.id,
    received,
    until: (isWanted, what) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          clearTimeout(timer);
          waiting.delete(check);
          settle();
        };
        const check = () => {
          const found = received.find(isWanted);
          if (found !== undefined) end(() => resolve(found));
        };
        const timer = setTimeout(
          () =>
            end(() =>
              reject(new Error(`Timed out after ${EVENT_LIMIT_MS} ms waiting for ${what}`))
            ),
          EVENT_LIMIT_MS,
        );
        waiting.add(check);
        check();
      }),
  };
}

/** Long enough for a real reasoning model. */
const EVENT_LIMIT_MS = 300_000;

/** Whether Realtime refuses the user the channel of another user's job. */
export async function isRefused(user: DemoUser, taskId: string): Promise<boolean> {
  const channel = user.client.channel(`supaswarm:master:${taskId}`, { config: { private: true } });
  try {
    return await new Promise((resolve) => {
      channel.subscribe((status) => {
        if (status === "SUBSCRIBED") resolve(false);
        if (status === "CHANNEL_ERROR" || status === "TIMED_OUT") resolve(true);
      });
    });
  } finally {
    await user.client.removeChannel(channel);
  }
}
