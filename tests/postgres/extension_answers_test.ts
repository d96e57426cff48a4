import {
  RECORDED_EXTENSIONS,
  RECORDED_ROLES,
  recordedAnswers,
  recordedStatements,
} from "../platform/stand_ins/recorded_answers.ts";
import { answerStatements, assertSameAnswers } from "../platform/stand_ins/statement_answers.ts";
import { startNativeServer } from "./native_server.ts";

for (const name of [...RECORDED_EXTENSIONS, RECORDED_ROLES]) {
  Deno.test(`${name} answers as on a hosted project`, async () => {
    await using server = await startNativeServer();

    const answers = await answerStatements(server.cluster.url, await recordedStatements(name));

    assertSameAnswers(answers, await recordedAnswers(name));
  });
}
