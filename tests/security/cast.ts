import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";
import { type DemoUser, type Project, signUp } from "../../scripts/demo/user_client.ts";
import type { Platform } from "../e2e/platform.ts";

/** A signed-in user of a test. */
export interface Person extends DemoUser {
  readonly id: string;
}

/** Every caller of a request: two users, the publishable key by itself, and the secret key. */
export interface Cast extends AsyncDisposable {
  readonly owner: Person;
  readonly stranger: Person;
  readonly anon: SupabaseClient;
  readonly service: SupabaseClient;
}

/** Signs the users up and creates the clients; their sockets close with the cast. */
export async function castOf({ stack, project }: Platform): Promise<Cast> {
  const [owner, stranger, anon, service] = await Promise.all([
    signUpPerson(project, "owner"),
    signUpPerson(project, "stranger"),
    clientOf(project.apiUrl, project.publishableKey),
    clientOf(project.apiUrl, stack.secretKey),
  ]);
  return {
    owner,
    stranger,
    anon,
    service,
    async [Symbol.asyncDispose]() {
      for (const client of [owner.client, stranger.client, anon, service]) {
        await client.removeAllChannels();
        await client.realtime.disconnect();
      }
    },
  };
}

async function signUpPerson(project: Project, name: string): Promise<Person> {
  const user = await signUp(project, `${name}-${crypto.randomUUID()}`);
  const { data, error } = await user.client.auth.getUser();
  if (error !== null) throw error;
  return { ...user, id: data.user.id };
}

async function clientOf(apiUrl: string, key: string): Promise<SupabaseClient> {
  const { createClient } = await loadSupabaseJs();
  return createClient(apiUrl, key, { auth: { persistSession: false, autoRefreshToken: false } });
}
