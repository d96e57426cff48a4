import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";
import { createSwarm, type Job, type JobEvent } from "../../client/mod.ts";
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
  /** Resolves when the job's channel is joined; Realtime sends what happens from then on. */
  readonly joined: Promise<void>;
  /** Events received over Realtime, in order of arrival. */
  readonly received: readonly TraceEvent[];
  /** Resolves when the job has ended and each of its events was passed to `onEvent`. */
  readonly shown: Promise<void>;
  /**
   * Resolves with the first event of the job that satisfies `isWanted`, at whatever time it happens.
   *
   * @throws Error when the job ends without it, or it does not happen in time.
   */
  until(isWanted: (event: JobEvent) => boolean, what: string): Promise<JobEvent>;
}

/**
 * Starts a job and follows it in two ways: Realtime sends what happens after its channel is joined,
 * which the demo proves, and the client reads all events.
 *
 * @param options `onEvent` gets each event of the job once, from the first on.
 */
export async function createJob(
  { client }: DemoUser,
  { input, onEvent }: {
    readonly input: Readonly<Record<string, string>>;
    readonly onEvent?: (event: JobEvent) => void;
  },
): Promise<FollowedJob> {
  const job = await createSwarm(client).run("planner", input);
  const received: TraceEvent[] = [];
  const joined = Promise.withResolvers<void>();
  job.listen({
    onMessage: ({ event, payload }) => {
      received.push({ type: event, ...traceEventSchema.parse(payload) });
    },
    onJoined: (isJoined) => isJoined && joined.resolve(),
  });
  const shown = onEvent === undefined ? Promise.resolve() : showEvents(job, onEvent);
  // An error reaches the caller when it awaits this, also if that is later.
  shown.catch(() => {});
  return {
    job,
    taskId: job.id,
    joined: joined.promise,
    received,
    shown,
    until: (isWanted, what) => findEvent(job, isWanted, what),
  };
}

async function showEvents(job: Job, onEvent: (event: JobEvent) => void): Promise<void> {
  for await (const event of job.events()) onEvent(event);
}

async function findEvent(
  job: Job,
  isWanted: (event: JobEvent) => boolean,
  what: string,
): Promise<JobEvent> {
  const signal = AbortSignal.timeout(EVENT_LIMIT_MS);
  try {
    for await (const event of job.events({ signal })) {
      if (isWanted(event)) return event;
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new Error(`Timed out after ${EVENT_LIMIT_MS} ms waiting for ${what}`, { cause });
  }
  throw new Error(`The job ended without ${what}`);
}

/** Long enough for a real reasoning model. */
const EVENT_LIMIT_MS = 300_000;

/** Whether Realtime refuses the user the channel of another user's job. */
export async function isRefused(user: DemoUser, taskId: string): Promise<boolean> {
  const channel = user.client.channel(`supaswarm:master:${taskId}`, { config: { private: true } });
  try {
    return await new Promise((resolve) => {
      // A timeout refuses nothing, and the client joins again.
      channel.subscribe((status) => {
        if (status === "SUBSCRIBED") resolve(false);
        if (status === "CHANNEL_ERROR") resolve(true);
      });
    });
  } finally {
    await user.client.removeChannel(channel);
  }
}
