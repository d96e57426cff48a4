import { z } from "../../shared/vendor/zod.js";

/** An event of the trace in a broadcast. docs/reference/events.md describes the payload. */
export const traceEventSchema = z.object({
  task_id: z.string(),
  master_task_id: z.string(),
  /** Null for streamed text, which is not stored. */
  seq: z.number().nullable(),
  at: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/** An event with its type, which is the broadcast's event. */
export type TraceEvent = z.infer<typeof traceEventSchema> & { readonly type: string };
