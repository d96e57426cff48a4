import type { Answer } from "./statement_answers.ts";

/** Extensions whose answers are recorded, by the names of the files in `answers/`. */
export const RECORDED_EXTENSIONS = ["pgmq", "pg_cron", "pg_net", "supabase_vault"] as const;

/** What else is recorded; it needs a server on which `postgres` is no superuser. */
export const RECORDED_ROLES = "platform_roles";

const FOLDER = new URL("./answers/", import.meta.url);

/** The statements of a record, in the order in which they are run. */
export async function recordedStatements(name: string): Promise<string> {
  return await Deno.readTextFile(new URL(`${name}.sql`, FOLDER));
}

/** What the real extensions answered to them. */
export async function recordedAnswers(name: string): Promise<Answer[]> {
  const lines = (await Deno.readTextFile(new URL(`${name}.jsonl`, FOLDER))).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** Replaces the record of what a real server answered. */
export async function writeRecordedAnswers(name: string, answers: Answer[]): Promise<void> {
  const lines = answers.map((answer) => `${JSON.stringify(answer)}\n`);
  await Deno.writeTextFile(new URL(`${name}.jsonl`, FOLDER), lines.join(""));
}
