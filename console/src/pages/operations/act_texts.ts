/** What an operator did, as the predicate of a sentence about the operator. */
export const ACT_TEXTS: Readonly<Record<string, string>> = {
  "job.opened": "opened the job",
  "job.cancelled": "cancelled the job",
  "task.retried": "retried a task of the job",
  "dead_letter.redriven": "redrove a task of the job",
  "tool_definition.approved": "approved the definition of",
  "schema.changed": "changed the schema",
  "tool.tried": "tried the",
  "definition.saved": "saved the",
  "definition.removed": "removed the",
  "agent.rolled_back": "rolled back the",
  "secret.set": "set the key",
  "secret.removed": "deleted the key",
  "scopes.changed": "changed the scopes of",
  "webhook.tested": "sent a test message to the",
  "webhook_message.resent": "sent a message again to the",
};
