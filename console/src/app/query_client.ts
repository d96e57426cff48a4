import { QueryClient } from "@tanstack/vue-query";
import { RequestError } from "../project/request_error.ts";

/** Creates the cache of the project's responses. No requests are sent while the page is hidden. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        refetchIntervalInBackground: false,
        retry: (failureCount, error) => failureCount < 2 && mayPass(error),
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5_000),
      },
    },
  });
}

/** Errors that a retry may fix: the project did not refuse the request with a reason. */
function mayPass(error: Error): boolean {
  return !(error instanceof RequestError) || error.status === 0 || error.status >= 500;
}
