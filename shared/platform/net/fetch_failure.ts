/**
 * Whether a request with a rejected `fetch` may have reached its server.
 *
 * Returns false only for failures before the first byte of the request (name, connect, TLS),
 * because a write is then repeated; in doubt it counts as sent.
 */
export function mayHaveBeenSent(error: unknown): boolean {
  for (const message of messageChain(error)) {
    if (/\(Connect\)|dns error|tcp connect error|invalid peer certificate/i.test(message)) {
      return false;
    }
  }
  return true;
}

function* messageChain(error: unknown): Generator<string> {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 5; depth++) {
    yield current.message;
    current = current.cause;
  }
}
