import { percentile } from "../bench_result.ts";
import { seededRandom } from "../../../scripts/seeded_random.ts";
import { mean } from "./score_ranking.ts";

const DRAWS = 2_000;

/**
 * Returns the 95 % confidence interval of a mean over groups: the middle 95 % of the means of 2,000
 * draws with replacement from each group. The same groups give the same range.
 *
 * @throws RangeError when a group is empty.
 */
export function bootstrap(
  groups: readonly (readonly number[])[],
): { readonly low: number; readonly high: number } {
  const random = seededRandom(1);
  const drawFrom = (values: readonly number[]) => {
    if (values.length === 0) throw new RangeError("Cannot draw from an empty group");
    return values.map(() => values[Math.floor(random() * values.length)] ?? 0);
  };
  const means = Array.from(
    { length: DRAWS },
    () => mean(groups.map((group) => mean(drawFrom(group)))),
  );
  return { low: percentile(means, 0.025), high: percentile(means, 0.975) };
}
