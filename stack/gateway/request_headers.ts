import { AsyncLocalStorage } from "node:async_hooks";

const running = new AsyncLocalStorage<Headers>();

/** Runs `answer` so that the SQL of the request can read its headers, like in PostgREST. */
export function withRequestHeaders<T>({ headers }: Request, answer: () => Promise<T>): Promise<T> {
  return running.run(headers, answer);
}

/** Returns the headers of the current request, for the setting `request.headers`. */
export function currentHeaders(): string {
  return JSON.stringify(Object.fromEntries(running.getStore() ?? []));
}
