/** Error codes of postgres.js, of sockets, and of a server that shuts down or starts. */
const LOSS =
  /\b(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|EPIPE|57P0[123])\b/;

/** Whether a statement failed because the database disconnected. */
export function isConnectionLoss(error: unknown): error is Error {
  return error instanceof Error && "code" in error && LOSS.test(String(error.code));
}

/** Whether a printed error reports that the database disconnected. */
export function mentionsConnectionLoss(text: string): boolean {
  return LOSS.test(text);
}
