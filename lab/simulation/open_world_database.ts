import { MemoryDatabase } from "./memory_database.ts";
import { WITNESS } from "./invariants.ts";
import { runWorld, USERS } from "./world.ts";

/** Worlds before the first: what they leave in memory makes a statement three times as fast. */
const WARM_UP_SEEDS = [900_001, 900_002, 900_003];

const PEOPLE = USERS.map((id, index) => `('${id}', 'user${index}@sim.test')`).join(", ");
const ADD_USERS = `insert into auth.users (id, email) values ${PEOPLE} on conflict do nothing;`;
const AGENTS = `
  ${ADD_USERS}
  insert into public.llm_providers (name, display_name, api, base_url, default_model, requires_api_key)
  values ('sim', 'Sim', 'openai', 'http://127.0.0.1:9', 'script-1', false);
  insert into public.agents (name, slug, description, system_prompt, provider_id)
  select slug, slug, slug, 'You are ' || slug, provider.id
  from public.llm_providers as provider, unnest(array['sim-planner', 'sim-reader']) as slug
  where provider.name = 'sim';
  select private.configure_project_url('http://sim');
  listen supaswarm_tasks;
  listen supaswarm_net;`;
/** Not truncate: it would invalidate the plans that the worlds made. */
const CLEAN = `
  delete from public.webhooks;
  delete from public.schedules;
  delete from public.tasks;
  delete from private.workers;
  delete from private.dead_letters;
  delete from private.maintenance_failures;
  delete from pgmq.q_agent_tasks;
  delete from net.http_request_queue;
  delete from realtime.messages;
  delete from witness.sightings;
  delete from witness.repairs;
  delete from public.usage_events;
  delete from private.job_totals;
  update private.wake_gate set last_wake_at = '-infinity';
  ${ADD_USERS}`;

/** Opens a database for worlds: with agents, users, the checks, and warm caches. */
export async function openWorldDatabase(patch = ""): Promise<MemoryDatabase> {
  const database = await MemoryDatabase.open();
  await database.run(AGENTS + patch + WITNESS);
  for (const seed of WARM_UP_SEEDS) {
    await runWorld(database, seed, { isFresh: false });
    await database.run(CLEAN);
  }
  database.keep();
  database.clearFigures();
  return database;
}
