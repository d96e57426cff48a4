import { expect, test } from "vitest";
import { type PlannedCall, withPlans } from "./plans_of_runs.ts";

function call(hash: string | null, isDryRun: string | null, name = ""): PlannedCall {
  return { id: `${hash} ${isDryRun}${name}`, is_dry_run: isDryRun, write_hash: hash };
}

test("a plan and the run after it are one row; a plan without a run stays", () => {
  const rows = [
    call("b", null),
    call("read", "false"),
    call("a", "false"),
    call("a", null),
    call("a", null, " earlier"),
    call(null, null),
  ];
  expect(withPlans(rows).map(({ id, plan }) => [id, plan?.id ?? null])).toEqual([
    ["b null", null],
    ["read false", null],
    ["a false", "a null"],
    ["a null earlier", null],
    ["null null", null],
  ]);
});

test("a plan that was repeated belongs to the first run after it alone", () => {
  const rows = [call("a", "false", " second"), call("a", "false", " first"), call("a", "true")];
  expect(withPlans(rows).map(({ plan }) => plan?.id ?? null)).toEqual([null, "a true"]);
});
