import { AsyncLocalStorage } from "node:async_hooks";

const running = new AsyncLocalStorage<Headers>();

/** Answers a request such that its SQL reads its headers, as PostgREST has it. */
export function withRequestHeaders<T>({ headers }: Request, answer: () => Promise<T>): Promise<T> {
  return running.run(headers, answer);
}

/** The headers of the request that is being answered, for the setting `request.headers`. */
export function currentHeaders(): string {
  return JSON.stringify(Object.fromEntries(running.getStore() ?? []));
}
