/** What models and tools saw, of which the database knows only a part. */
export class Journal {
  /** Texts of answers by task. */
  readonly answers = new Map<string, Set<string>>();
  /** Runs of tool calls by idempotency key. */
  readonly runs = new Map<string, number>();
  /** When receivers of webhooks stored messages, by id. */
  readonly receipts = new Map<string, number[]>();
  /** The tasks of each user who was deleted. */
  readonly deletedUsers = new Map<string, readonly string[]>();
  /** What workers read of the tasks that they claimed. */
  readonly contexts: unknown[] = [];
  modelCalls = 0;
  /** Whether a question may be open. */
  mayBeAsking = false;

  answer(taskId: string): string {
    const text = `answer ${++this.modelCalls}`;
    const texts = this.answers.get(taskId) ?? new Set();
    this.answers.set(taskId, texts.add(text));
    return text;
  }

  run(key: string): void {
    this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
  }

  received(messageId: string, atMs: number): void {
    this.receipts.set(messageId, [...this.receipts.get(messageId) ?? [], atMs]);
  }
}
