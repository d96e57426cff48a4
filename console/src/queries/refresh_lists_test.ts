import { QueryClient, QueryObserver } from "@tanstack/vue-query";
import { expect, test, vi } from "vitest";
import { changedLists, createListRefresh } from "./refresh_lists.ts";

test("events that keep arriving do not cancel the read of a list, and it is read again", async () => {
  const queries = new QueryClient();
  queries.setQueryData(["jobs", "own"], "of an earlier visit");
  const reads: { readonly signal: AbortSignal; readonly answer: (rows: string) => void }[] = [];
  const observer = new QueryObserver(queries, {
    queryKey: ["jobs", "own"],
    queryFn: ({ signal }) => new Promise<string>((answer) => reads.push({ signal, answer })),
  });
  const stop = observer.subscribe(() => {});
  await vi.waitFor(() => expect(reads.length).toBe(1));

  const refresh = createListRefresh(queries, "jobs");
  const refreshed = Promise.all([refresh(), refresh(), refresh()]);
  expect(reads[0]?.signal.aborted).toBe(false);
  reads[0]?.answer("before the change");
  await vi.waitFor(() => expect(reads.length).toBe(2));
  reads[1]?.answer("after it");
  await refreshed;
  expect(reads.length).toBe(2);
  expect(observer.getCurrentResult().data).toBe("after it");
  stop();
});

test("a list that nobody shows any more is not waited for", async () => {
  const queries = new QueryClient();
  void queries.prefetchQuery({ queryKey: ["jobs", "left"], queryFn: () => new Promise(() => {}) });
  expect(queries.isFetching()).toBe(1);

  await createListRefresh(queries, "jobs")();
});

test("a job that starts or completes does not read the reviews again", () => {
  const message = (event: string, data: Record<string, unknown>) => ({
    event,
    payload: { task_id: "1", at: "", data },
  });

  expect(changedLists(message("job.changed", { status: "running" }))).toEqual(["jobs"]);
  expect(changedLists(message("job.changed", { status: "cancelled" }))).toContain("reviews");
  expect(changedLists(message("review.requested", {}))).toContain("reviews");
});
