/**
 * What a tool lets flow. Where a task has read private data and text from outside, that text may
 * have told its agent to send the data away with a tool that sends outside.
 */
export const DATA_FLOWS = ["reads_private", "reads_outside", "sends_outside"] as const;
/** See {@linkcode DATA_FLOWS}. */
export type DataFlow = typeof DATA_FLOWS[number];
