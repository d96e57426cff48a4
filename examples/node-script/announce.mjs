// Drafts an announcement, asks on the terminal, and prints the result.
//   node announce.mjs "our API has webhooks"
//   node announce.mjs --job <id>     continues to wait for an earlier one
import { createInterface } from "node:readline/promises";
import { createClient } from "@supabase/supabase-js";
import { createSwarm, SwarmClientError } from "supaswarm/client";

const { SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, USER_EMAIL, USER_PASSWORD } = process.env;
const [first, second] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const supabase = createClient(SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, {
  auth: { autoRefreshToken: false },
});
const { error } = await supabase.auth.signInWithPassword({
  email: USER_EMAIL,
  password: USER_PASSWORD,
});
if (error) throw error;

const swarm = createSwarm(supabase);
try {
  const job = first === "--job"
    ? swarm.job(second, { signal: stop.signal })
    : await swarm.run("writer", { topic: first }, { signal: stop.signal });
  console.log(`Job ${job.id}`);
  for await (const event of job) {
    if (event.type === "model.completed" && event.data.text) console.log(event.data.text);
    if (event.type === "review.requested") await answer(job, event);
  }
  console.log((await job.result()).announcement);
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(error instanceof SwarmClientError ? `${error.code}: ${error.message}` : error);
  }
  process.exitCode = 1;
}
// supabase-js keeps a timer for ten seconds.
process.exit();

async function answer(job, { task_id, data: { question, context } }) {
  console.log(context?.draft ?? "");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const reply = await terminal.question(`${question} [y/n] `, { signal: stop.signal });
  terminal.close();
  await job.respond(task_id, { approved: reply.startsWith("y") })
    // Somebody answered it in another window.
    .catch((error) => {
      if (error.code !== "REVIEW_ALREADY_ANSWERED") throw error;
    });
}
