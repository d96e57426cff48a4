import { CommandError } from "../errors/command_error.ts";
import { connectionReason, explainError, isOwn, withoutWrapper } from "../errors/explain_error.ts";
import { supabaseCommand } from "../supabase_cli.ts";
import { databaseLabel } from "./database_url.ts";

/** SQLSTATE of a wrong password, a missing user and a missing database. */
const LOGIN_REFUSED = /^(28...|3D000)$/;
/** A pooler that has no such project. */
const NO_TENANT = /Tenant or user not found/;

/**
 * An error of a command that uses a database, which names the database if that cannot be reached or
 * refuses the login. The name has no password.
 */
export function toDatabaseError(thrown: unknown, url: string): unknown {
  const error = withoutWrapper(thrown);
  if (isOwn(error) || error instanceof TypeError) return error;
  const reason = connectionReason(error);
  if (reason !== null) {
    return new CommandError(
      "DATABASE_UNREACHABLE",
      `Cannot connect to the database ${databaseLabel(url)}: ${reason}`,
      "Check its URL and that it runs. db.<ref>.supabase.co has only an IPv6 address: in other " +
        "networks use the session pooler (Connect in the dashboard).",
      { cause: error },
    );
  }
  const { code } = explainError(error);
  const message = error instanceof Error ? error.message : String(error);
  if (!LOGIN_REFUSED.test(code ?? "") && !NO_TENANT.test(message)) return error;
  return new CommandError(
    "LOGIN_REFUSED",
    `Cannot log in to the database ${databaseLabel(url)}: ${message}`,
    "Correct the user and the password in its URL. Percent-encode special characters of the " +
      "password (@ is %40). The user of a pooler is postgres.<ref>.",
    { cause: error },
  );
}

/** The error about a database that lacks the platform. */
export function notInDatabase(url: string): CommandError {
  return new CommandError(
    "NOT_IN_DATABASE",
    `The database ${databaseLabel(url)} does not have SupaSwarm`,
    `Check that the URL names your project. ${supabaseCommand("db push --remote")} ` +
      "puts SupaSwarm into it.",
  );
}
