/** The answer of an authorization server in the fragment of the address. */
export interface ReturnedFragment {
  readonly confirmation: string | null;
  readonly error: string | null;
  readonly errorDescription: string | null;
}

let returned: ReturnedFragment | null = null;

/**
 * Removes `#confirmation=…` and `#error=…` from the address before the router reads it, so that
 * neither stays in the history.
 */
export function takeReturnedFragment(): void {
  const fragment = location.hash.slice(1);
  if (fragment.startsWith("/")) return;
  const values = new URLSearchParams(fragment);
  const confirmation = values.get("confirmation");
  const error = values.get("error");
  if (confirmation === null && error === null) return;
  returned = { confirmation, error, errorDescription: values.get("error_description") };
  history.replaceState(null, "", `${location.pathname}${location.search}#/tools`);
}

/** Returns the answer once. */
export function claimReturnedFragment(): ReturnedFragment | null {
  const taken = returned;
  returned = null;
  return taken;
}
