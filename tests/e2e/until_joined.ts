import { waitFor } from "../../scripts/wait_for.ts";
import type { SupabaseClient } from "../deps.ts";

/** Waits until a client has joined the channel of a job. */
export async function untilJoined(supabase: SupabaseClient, jobId: string): Promise<void> {
  const isJoined = () =>
    supabase.getChannels().some(({ topic, state }) => topic.endsWith(jobId) && state === "joined");
  await waitFor(isJoined, { what: "the job's channel" });
}
