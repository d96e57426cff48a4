/** `POST {"topic": "…"}`: runs an agent for the caller, and waits for its answer up to a minute. */
import { createClient } from "@supabase/supabase-js";
import { createSwarm, SwarmClientError } from "supaswarm/client";

/** An edge function may answer for 150 seconds; a job may take longer. */
const WAIT_MS = Number(Deno.env.get("WAIT_MS") ?? 60_000);

Deno.serve(async (request) => {
  const authorization = request.headers.get("authorization") ?? "";
  const { topic } = await request.json();
  const supabase = createClient(
    Deno.env.get("SUPABASE_URL") ?? "",
    Deno.env.get("SUPABASE_ANON_KEY") ?? "",
    { global: { headers: { authorization } }, auth: { persistSession: false } },
  );
  const timeout = AbortSignal.timeout(WAIT_MS);
  try {
    // A caller that repeats its request with the same key waits for the same job.
    const idempotencyKey = request.headers.get("idempotency-key");
    const job = await createSwarm(supabase).run("writer", { topic }, {
      ...idempotencyKey && { idempotencyKey },
      signal: request.signal,
    });
    try {
      return Response.json(await job.result({ signal: timeout }));
    } catch (error) {
      if (!timeout.aborted) throw error;
      // The job goes on; the caller may ask again, or follow it with the client.
      return Response.json({ job: job.id, status: await job.status() }, { status: 202 });
    }
  } catch (error) {
    if (!(error instanceof SwarmClientError)) throw error;
    const { code, message, hint, status } = error;
    return Response.json({ error: { code, message, hint } }, { status: status || 502 });
  }
});
