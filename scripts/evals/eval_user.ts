import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { ProjectKeys } from "../cli/find_database.ts";
import { CommandError } from "../cli/run_command.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";

/** Owns the jobs of evals unless a person does; an operator grants it what the agents' users may do. */
const OWN_EMAIL = "evals@supaswarm.internal";
/** In the metadata of its account, which only a secret key can write. */
const OWN_PURPOSE = "evals";

/** A signed-in user. */
export interface EvalUser extends Disposable {
  readonly id: string;
  readonly client: SupabaseClient;
}

/** Where to sign in. */
export interface EvalProject extends ProjectKeys {
  /** A person who signs in, so that the jobs are theirs; null for the user of evals. */
  readonly person: { readonly email: string; readonly password: string } | null;
}

/**
 * Signs in the user of the jobs. The first use of the user of evals creates its account; its password
 * follows from the secret key, so that nothing has to store it and runs at the same time do not
 * disturb each other.
 *
 * @throws CommandError when the project refuses, or somebody else has registered the address.
 */
export async function signInEvalUser(project: EvalProject, sql: Sql): Promise<EvalUser> {
  const { createClient } = await loadSupabaseJs();
  const client = createClient(project.apiUrl, project.publishableKey, {
    auth: { persistSession: false, autoRefreshToken: true },
  });
  const credentials = project.person ??
    { email: OWN_EMAIL, password: await passwordFrom(project.secretKey) };
  let answer = await client.auth.signInWithPassword(credentials);
  if (answer.error?.code === "invalid_credentials" && project.person === null) {
    await saveOwnUser(project, credentials, sql);
    answer = await client.auth.signInWithPassword(credentials);
  }
  const { error, data: { user } } = answer;
  if (error !== null) throw refused(credentials.email, error);
  return {
    id: user?.id ?? "",
    client,
    [Symbol.dispose]: () => {
      client.auth.stopAutoRefresh();
      client.realtime.disconnect();
    },
  };
}

async function saveOwnUser(
  { apiUrl, secretKey }: ProjectKeys,
  credentials: { readonly email: string; readonly password: string },
  sql: Sql,
): Promise<void> {
  const { createClient } = await loadSupabaseJs();
  const { auth: { admin } } = createClient(apiUrl, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
  const [known] = await sql`
    select id, raw_app_meta_data ->> 'supaswarm' as purpose
    from auth.users where email = ${credentials.email}`;
  if (known !== undefined && known.purpose !== OWN_PURPOSE) {
    // Whoever registered it has sessions, which would have the rights that operators grant to evals.
    throw new CommandError(
      `Cannot sign in ${credentials.email}: somebody else has registered this address. Delete the ` +
        "account, or set SUPASWARM_EVALS_EMAIL and SUPASWARM_EVALS_PASSWORD",
    );
  }
  const { error } = known === undefined
    ? await admin.createUser({
      ...credentials,
      email_confirm: true,
      app_metadata: { supaswarm: OWN_PURPOSE },
    })
    // The secret key has changed.
    : await admin.updateUserById(String(known.id), { password: credentials.password });
  if (error !== null) throw refused(credentials.email, error);
}

async function passwordFrom(secretKey: string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(secretKey), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(OWN_EMAIL))).toBase64();
}

function refused(email: string, cause: Error): CommandError {
  return new CommandError(
    `Cannot sign in ${email}, whose jobs the tests run as: ${cause.message}. Check ` +
      "SUPASWARM_EVALS_EMAIL and SUPASWARM_EVALS_PASSWORD; the project needs sign-in with a password",
    { cause },
  );
}
