import type { ChatPlatform } from "./chat_platform.ts";
import { EventReader } from "./event_reader.ts";
import type { Files } from "./files.ts";
import { followJob } from "./follow_job.ts";
import type { JobContext } from "./job.ts";
import { callFunction, callRpc } from "./supabase.ts";
import { isTransient, SwarmClientError } from "./swarm_client_error.ts";
import { pause } from "./waiting.ts";

/** The platform of a chat over the user's `supabase-js` client. */
export function clientChatPlatform(context: JobContext, files: Files): ChatPlatform {
  const { supabase, channels } = context;
  return {
    async create(body, { signal }) {
      const options = { body, signal };
      const { task_id: id } = await callFunction<{ task_id: string }>(
        supabase,
        "supaswarm-create-task",
        options,
      );
      return id;
    },
    call: (name, args, options) => callRpc(supabase, name, args, options),
    follow: (jobId, { after, signal }) =>
      followJob(context, {
        jobId,
        events: new EventReader(supabase, channels, { jobId, after }),
        signal,
      }),
    async upload({ url, filename, mediaType }) {
      const file = await (await fetch(url)).blob();
      const [, subtype = "txt"] = mediaType.split("/");
      // Storage takes few characters besides those of ASCII, and files of people have all kinds of names.
      const name = (filename ?? `message.${subtype}`).replaceAll(/[^\w.-]+/g, "_").slice(-100);
      const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16));
      return await files.upload(file, { name: `${id.join("")}-${name}` });
    },
    pause,
    isTransient,
    refuse: (problem) => new SwarmClientError(problem),
  };
}
