import type { Answer } from "./statement_answers.ts";

/** Extensions whose answers are recorded, by the names of the files in `answers/`. */
export const RECORDED_EXTENSIONS = ["pgmq", "pg_cron", "pg_net", "supabase_vault"] as const;

/** Other recorded answers; they need a server on which `postgres` is not a superuser. */
export const RECORDED_ROLES = "platform_roles";

const FOLDER = new URL("./answers/", import.meta.url);

/** The statements of a record, in the order in which they run. */
export async function recordedStatements(name: string): Promise<string> {
  return await Deno.readTextFile(new URL(`${name}.sql`, FOLDER));
}

/** The real extensions' answers to them. */
export async function recordedAnswers(name: string): Promise<Answer[]> {
  const lines = (await Deno.readTextFile(new URL(`${name}.jsonl`, FOLDER))).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** Replaces the record of a real server's answers. */
export async function writeRecordedAnswers(name: string, answers: Answer[]): Promise<void> {
  const lines = answers.map((answer) => `${JSON.stringify(answer)}\n`);
  await Deno.writeTextFile(new URL(`${name}.jsonl`, FOLDER), lines.join(""));
}
