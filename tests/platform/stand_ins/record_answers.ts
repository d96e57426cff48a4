/**
 * Records the answers of the real extensions: `deno run -A tests/platform/stand_ins/record_answers.ts URL`.
 *
 * The URL is that of an empty Supabase project's database, as `postgres`. It creates and drops the
 * extensions pgmq, pg_cron and pg_net, roles, schemas and tables: never run it on a project in use.
 */
import { answerStatements } from "./statement_answers.ts";
import {
  RECORDED_EXTENSIONS,
  RECORDED_ROLES,
  recordedStatements,
  writeRecordedAnswers,
} from "./recorded_answers.ts";
import { writeLine } from "../../../scripts/terminal.ts";

const [url] = Deno.args;
if (url === undefined) throw new Error("Name the database: record_answers.ts postgresql://…");
for (const name of [...RECORDED_EXTENSIONS, RECORDED_ROLES]) {
  const answers = await answerStatements(url, await recordedStatements(name));
  await writeRecordedAnswers(name, answers);
  writeLine(`${name}: ${answers.length} answers`);
}
