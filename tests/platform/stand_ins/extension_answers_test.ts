import { testsSharing } from "../../shared_fixture.ts";
import { openDatabaseFixture } from "../../stack/database_fixture.ts";
import { RECORDED_EXTENSIONS, recordedAnswers, recordedStatements } from "./recorded_answers.ts";
import { answerStatements, assertSameAnswers } from "./statement_answers.ts";

const databaseTest = testsSharing(openDatabaseFixture);

for (const name of RECORDED_EXTENSIONS) {
  databaseTest(`${name} answers on the embedded server like the original`, async (fixture) => {
    const answers = await answerStatements(fixture.database.url, await recordedStatements(name));

    assertSameAnswers(answers, await recordedAnswers(name));
  });
}
