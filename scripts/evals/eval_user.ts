import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { ProjectKeys } from "../cli/find_database.ts";
import { CommandError } from "../cli/run_command.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";

/** Owns the jobs of evals; an operator grants it what the agents' users may do. */
export const EVAL_USER_EMAIL = "evals@supaswarm.internal";

/** A signed-in user. */
export interface EvalUser extends Disposable {
  readonly id: string;
  readonly client: SupabaseClient;
}

/**
 * Signs in the user of evals. Its first use creates the account. The password follows from the secret
 * key, so that nothing has to store it and runs at the same time do not disturb each other.
 *
 * @throws CommandError when the project refuses.
 */
export async function signInEvalUser(project: ProjectKeys, sql: Sql): Promise<EvalUser> {
  const { createClient } = await loadSupabaseJs();
  const client = createClient(project.apiUrl, project.publishableKey, {
    auth: { persistSession: false, autoRefreshToken: true },
  });
  const credentials = {
    email: EVAL_USER_EMAIL,
    password: await passwordFrom(project.secretKey),
  };
  let answer = await client.auth.signInWithPassword(credentials);
  if (answer.error?.code === "invalid_credentials") {
    const { auth: { admin } } = createClient(project.apiUrl, project.secretKey, {
      auth: { persistSession: false, autoRefreshToken: false },
    });
    const [known] = await sql`select id from auth.users where email = ${EVAL_USER_EMAIL}`;
    const { error } = known === undefined
      ? await admin.createUser({ ...credentials, email_confirm: true })
      // The secret key has changed.
      : await admin.updateUserById(String(known.id), { password: credentials.password });
    if (error !== null) throw refused(error);
    answer = await client.auth.signInWithPassword(credentials);
  }
  const { error, data: { user } } = answer;
  if (error !== null) throw refused(error);
  return {
    id: user?.id ?? "",
    client,
    [Symbol.dispose]: () => {
      client.auth.stopAutoRefresh();
      client.realtime.disconnect();
    },
  };
}

async function passwordFrom(secretKey: string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(secretKey), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(EVAL_USER_EMAIL))).toBase64();
}

function refused(cause: Error): CommandError {
  return new CommandError(
    `Cannot sign in ${EVAL_USER_EMAIL}, the user of evals: ${cause.message}. The project needs ` +
      "sign-in with a password",
    { cause },
  );
}
