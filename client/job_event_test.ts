import assert from "node:assert/strict";
import { CLOSED_SETS } from "../shared/platform/db/closed_sets.ts";
import type { JobEventType, JobStatus, ReviewKind } from "./job_event.ts";

type StoredType = (typeof CLOSED_SETS.task_events.type)[number];
type StoredKind = (typeof CLOSED_SETS.human_reviews.kind)[number];
type StoredStatus = (typeof CLOSED_SETS.tasks.status)[number];

/** A type that has no member of the other: the check of types fails otherwise. */
type Without<All, Known> = Exclude<All, Known> extends never ? true : Exclude<All, Known>;

Deno.test("the client's types know each type of event, status and kind of review, and no other", () => {
  const known: readonly true[] = [
    true satisfies Without<StoredType, JobEventType>,
    true satisfies Without<JobEventType, StoredType>,
    true satisfies Without<StoredKind, ReviewKind>,
    true satisfies Without<ReviewKind, StoredKind>,
    true satisfies Without<StoredStatus, JobStatus>,
    true satisfies Without<JobStatus, StoredStatus>,
  ];

  assert.ok(known.length > 0);
});
