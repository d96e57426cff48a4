import assert from "node:assert/strict";
import { seededRandom } from "../../scripts/seeded_random.ts";
import {
  assertAllSettled,
  assertConsistent,
  assertNoDeadlock,
  claimAll,
  createFamilies,
  inLanes,
  openRaceTrack,
  printFigures,
  sentMessageCount,
  shuffled,
  statusCounts,
} from "./race_fixture.ts";

Deno.test("a parent that waits for its children is woken exactly once", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;

  await t.step("the last two children finish together: 300 parents, none stranded", async () => {
    const rounds = 300;
    const families = await createFamilies(track, rounds, 2);
    await inLanes(8, families, ({ parent }) => store.park(parent));
    const sentBefore = await sentMessageCount(sql);

    await inLanes(
      6,
      families,
      ({ children }) => Promise.all(children.map((child) => store.finish(child, "done", null))),
    );

    assert.deepEqual(await statusCounts(sql), { completed: 2 * rounds, pending: rounds });
    await assertConsistent(sql);
    const wakes = await sentMessageCount(sql) - sentBefore;
    const woken = await claimAll(store);
    printFigures({ rounds, wakes, resumed: woken.length });
    assert.deepEqual([wakes, woken.length], [rounds, rounds]);
    await inLanes(8, woken, (parent) => store.finish(parent, "done", null));
    await assertAllSettled(sql);
  });

  await t.step("parking races the end of the last child: 200 parents, none stranded", async () => {
    const rounds = 200;
    const families = await createFamilies(track, rounds, 1);
    const sentBefore = await sentMessageCount(sql);
    const random = seededRandom(2);

    const outcomes = await inLanes(6, families, async ({ parent, children }) => {
      let outcome = "";
      const park = async () => void (outcome = await store.park(parent));
      const finish = () => Promise.all(children.map((child) => store.finish(child, "done", null)));
      await Promise.all(shuffled([park, finish], random).map((start) => start()));
      return { parent, outcome };
    });

    await assertConsistent(sql);
    const wakes = await sentMessageCount(sql) - sentBefore;
    const wentOn = outcomes.filter(({ outcome }) => outcome === "continue");
    const woken = await claimAll(store);
    printFigures({ rounds, parked: rounds - wentOn.length, wakes, went_on: wentOn.length });
    assert.deepEqual([wakes, woken.length], [rounds - wentOn.length, rounds - wentOn.length]);
    const running = [...wentOn.map(({ parent }) => parent), ...woken];
    await inLanes(8, running, (parent) => store.finish(parent, "done", null));
    await assertAllSettled(sql);
  });

  await t.step("failed and cancelled children count too", async () => {
    const rounds = 60;
    const families = await createFamilies(track, rounds, 3);
    await inLanes(8, families, ({ parent }) => store.park(parent));
    const error = { code: "TOOL_FAILED", message: "It broke" } as const;
    const never = { retry: "never", retryAfterSeconds: null } as const;

    await inLanes(6, families, ({ children: [first, second, third] }) => {
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      return Promise.all([
        store.finish(first, "done", null),
        store.fail(second, error, never),
        store.fail(third, error, never),
      ]);
    });

    const woken = await claimAll(store);
    assert.equal(woken.length, rounds);
    const rows = await sql`
      select distinct to_jsonb(array(
        select step.output ->> 'status' from public.task_steps as step
        where step.task_id = task.id order by 1
      )) as statuses
      from public.tasks as task where task.status = 'running'`;
    assert.deepEqual(rows.map(({ statuses }) => statuses), [["completed", "failed", "failed"]]);
    await inLanes(8, woken, (parent) => store.finish(parent, "done", null));
    await assertAllSettled(sql);
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});
