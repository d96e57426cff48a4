import { openDatabaseFixture } from "../stack/database_fixture.ts";
import { RECORDED_EXTENSIONS, recordedAnswers, recordedStatements } from "./recorded_answers.ts";
import { answerStatements, assertSameAnswers } from "./statement_answers.ts";

for (const name of RECORDED_EXTENSIONS) {
  Deno.test(`${name} answers on the embedded server like the original`, async () => {
    await using fixture = await openDatabaseFixture();

    const answers = await answerStatements(fixture.database.url, await recordedStatements(name));

    assertSameAnswers(answers, await recordedAnswers(name));
  });
}
