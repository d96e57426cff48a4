import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { answerByGuessing } from "./learning/guessing_agent.ts";
import { type ManyToolsRuns, measureManyTools, TOOL_COUNT } from "./learning/many_tools.ts";
import { startPickyApis } from "./learning/picky_apis.ts";
import {
  addPickyTools,
  addUser,
  callsPerSuccess,
  deleteEverything,
  firstTryShare,
  runRounds,
  type TaskCalls,
} from "./learning/rounds_of_tasks.ts";
import { startMeasuredStack } from "./measured_stack.ts";
import { serverVersion } from "./server_version.ts";

const AGENT = "bench-learning";
const ROUNDS = 8;

/**
 * Learned parameters: how much they help a model that guesses parameter names. Measures the share
 * of tasks whose first call works, and the calls per success. The same tasks run three times on the
 * real worker and gateway:
 *
 * - `without`: everything learned is deleted before each task.
 * - `with`: one user, who learns from each call.
 * - `new_user`: each task by a user who never called a tool and gets the shapes of others' calls.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchLearning(db: string): Promise<BenchResult> {
  await using apis = startPickyApis();
  await using measured = await startMeasuredStack(db);
  const { sql } = measured;
  await measured.addAgent(AGENT, answerByGuessing);
  await addPickyTools(sql, AGENT, apis.url);
  const user = await addUser(sql);
  const rounds = { measured, agent: AGENT, count: ROUNDS };
  const without = await runRounds(rounds, async () => {
    await deleteEverything(sql);
    return user;
  });
  await deleteEverything(sql);
  const withCache = await runRounds(rounds, () => Promise.resolve(user));
  const newUser = await runRounds(rounds, () => addUser(sql));
  const versions = await serverVersion(sql);
  const { whole, searched } = await measureManyTools(db, apis.url);
  return toResult({ without, withCache, newUser, whole, searched }, versions);
}

interface Runs extends ManyToolsRuns {
  readonly without: readonly TaskCalls[];
  readonly withCache: readonly TaskCalls[];
  readonly newUser: readonly TaskCalls[];
}

function toResult(
  { without, withCache, newUser, whole, searched }: Runs,
  versions: Readonly<Record<string, string>>,
): BenchResult {
  const firstTry = { without: firstTryShare(without), with: firstTryShare(withCache) };
  const perSuccess = { without: callsPerSuccess(without), with: callsPerSuccess(withCache) };
  const figures = {
    tasks_each: without.length,
    without_first_try_share: firstTry.without,
    with_first_try_share: firstTry.with,
    new_user_first_try_share: firstTryShare(newUser),
    without_calls_per_success: perSuccess.without,
    with_calls_per_success: perSuccess.with,
    new_user_calls_per_success: callsPerSuccess(newUser),
    first_try_gain_share: rounded(firstTry.with - firstTry.without),
    calls_saved_share: rounded(1 - perSuccess.with / perSuccess.without),
    many_tools: TOOL_COUNT,
    many_whole_success_share: whole.successShare,
    many_search_success_share: searched.successShare,
    many_search_known_success_share: searched.known.successShare,
    many_whole_prompt_kb: whole.promptKb,
    many_search_prompt_kb: searched.promptKb,
    many_search_known_prompt_kb: searched.known.promptKb,
    many_whole_model_calls_a_task: whole.modelCalls,
    many_search_model_calls_a_task: searched.modelCalls,
    many_search_known_model_calls_a_task: searched.known.modelCalls,
    many_search_success_ratio: rounded(searched.successShare / whole.successShare),
    many_search_prompt_share: rounded(searched.promptKb / whole.promptKb),
  };
  const targets = {
    with_first_try_share: { min: 0.85 },
    new_user_first_try_share: { min: 0.95 },
    with_calls_per_success: { max: 1.3 },
    first_try_gain_share: { min: 0.6 },
    calls_saved_share: { min: 0.4 },
    many_search_success_ratio: { min: 1 },
    many_search_prompt_share: { max: 0.1 },
  };
  return judge("learning", figures, targets, {
    versions,
    notes: [
      "The model is a script that guesses one of four names for each of two arguments, follows what it reads in a tool's description or a retry message, and corrects what an error names.",
      "`with_…` includes the first tasks, when nothing was learned yet; `new_user_…` are users who have never called a tool and see the shapes of other users' arguments.",
      `\`many_…\`: the same tools among those of an external server, ${TOOL_COUNT} in all. \`whole\`: with every definition in each prompt; \`search\`: with the default setting, without anything learned; \`search_known\`: by a user who learns. The input does not name the tool; the model searches with words for it. A prompt is the body of the whole request.`,
    ],
  });
}
