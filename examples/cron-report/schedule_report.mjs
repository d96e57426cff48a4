// Schedules a report for every weekday, and prints the reports so far.
import { createClient } from "@supabase/supabase-js";
import { createSwarm } from "supaswarm/client";

const { SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, USER_EMAIL, USER_PASSWORD } = process.env;
const NAME = "Morning report";

const supabase = createClient(SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, {
  auth: { autoRefreshToken: false },
});
const { error } = await supabase.auth.signInWithPassword({
  email: USER_EMAIL,
  password: USER_PASSWORD,
});
if (error) throw error;

const { data: known } = await supabase.from("schedules").select("id,next_run_at")
  .eq("name", NAME).maybeSingle().throwOnError();
const { data: schedule } = known ? { data: known } : await supabase.from("schedules")
  .insert({
    name: NAME,
    agent: process.env.REPORT_AGENT ?? "reporter",
    input: "Sum up the jobs of the last 24 hours: how many, which failed, and why.",
    cron: "30 7 * * mon-fri",
    time_zone: "Europe/Berlin",
    budget: { max_steps: 30 },
    metadata: { report: "morning" },
  })
  .select("id,next_run_at").single().throwOnError();
console.log(`The next report starts at ${schedule.next_run_at}`);

const swarm = createSwarm(supabase);
for (
  const { id, status, created_at } of await swarm.jobs.list({ metadata: { report: "morning" } })
) {
  const text = status === "completed" ? await swarm.job(id).result() : status;
  console.log(
    `\n${created_at}\n${typeof text === "string" ? text : JSON.stringify(text, null, 2)}`,
  );
}
