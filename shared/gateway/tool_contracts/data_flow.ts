/**
 * The data flows of a tool. If a task has read both private data and untrusted text, that text may
 * have instructed its agent to send the data away with a tool that sends outside.
 */
export const DATA_FLOWS = ["reads_private", "reads_outside", "sends_outside"] as const;
/** See {@linkcode DATA_FLOWS}. */
export type DataFlow = typeof DATA_FLOWS[number];
