import { describe, expect, test } from "vitest";
import { actOnJobs, type BatchProgress } from "./act_on_jobs.ts";

const IDS = Array.from({ length: 10 }, (_one, index) => `job-${index}`);

describe("actOnJobs()", () => {
  test("acts once on each job, a few at a time, and reports its progress", async () => {
    const seen: string[] = [];
    const steps: BatchProgress[] = [];
    let running = 0;
    let most = 0;
    const end = await actOnJobs([IDS.slice(0, 6), IDS.slice(6)], async (id) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      seen.push(id);
      running--;
    }, {
      expected: 8,
      onProgress: (step) => steps.push(step),
      signal: new AbortController().signal,
    });
    expect(seen.toSorted()).toEqual(IDS);
    expect(most).toBe(4);
    expect(steps.map(({ done }) => done)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(steps.map(({ total }) => total)).toEqual([8, 8, 8, 8, 8, 8, 10, 10, 10, 10]);
    expect(end).toEqual({ total: 10, done: 10, failures: [] });
  });

  test("continues after a failure, and names the jobs that failed", async () => {
    const end = await actOnJobs(
      [IDS],
      (id) => id === "job-3" ? Promise.reject(new Error("ended")) : Promise.resolve(),
      { expected: 10, onProgress: () => {}, signal: new AbortController().signal },
    );
    expect(end.done).toBe(10);
    expect(end.failures.map(({ id }) => id)).toEqual(["job-3"]);
  });

  test("starts no other job and reads no other page after it was stopped", async () => {
    const abort = new AbortController();
    const read: number[] = [];
    function* pages() {
      for (const at of [0, 5]) {
        read.push(at);
        yield IDS.slice(at, at + 5);
      }
    }
    const end = await actOnJobs(pages(), () => {
      abort.abort();
      return Promise.resolve();
    }, { expected: 10, onProgress: () => {}, signal: abort.signal });
    expect(end.done).toBeLessThan(5);
    expect(read).toEqual([0]);
    expect(end.total).toBe(5);
  });
});
