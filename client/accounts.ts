import { callFunction, type RequestOptions, type SupabaseLike } from "./supabase.ts";

/** Where the browser goes to allow a connection. */
export interface Authorization {
  readonly authorization_url: string;
  readonly expires_at: string;
}

/** How to connect an account. */
export interface ConnectOptions extends RequestOptions {
  /** Page of an allowed origin to which the browser returns, with the answer in the fragment. */
  readonly returnTo?: string;
}

/** The user's own accounts at tool servers, which their calls and tasks use. */
export class Accounts {
  readonly #supabase: SupabaseLike;

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
  }

  /**
   * Begins a connection. The browser returns with `confirmation` or `error` in the fragment.
   *
   * @throws SwarmClientError such as `OAUTH_UNAVAILABLE`
   */
  async connect(
    server: string,
    { returnTo, signal }: ConnectOptions = {},
  ): Promise<Authorization> {
    return await callFunction<Authorization>(this.#supabase, "mcp-oauth", {
      body: { server, return_to: returnTo },
      signal,
    });
  }

  /** Completes a connection as the same user; returns the server. @throws SwarmClientError */
  async confirm(confirmation: string, options: RequestOptions = {}): Promise<string> {
    const { server } = await callFunction<{ server: string }>(
      this.#supabase,
      "mcp-oauth/confirm",
      { body: { confirmation }, ...options },
    );
    return server;
  }

  /**
   * Deletes the tokens of a connection; returns whether the server has revoked them too.
   *
   * @throws SwarmClientError
   */
  async disconnect(server: string, options: RequestOptions = {}): Promise<boolean> {
    const answer = await callFunction<{ is_revoked: boolean }>(this.#supabase, "mcp-oauth", {
      method: "DELETE",
      body: { server },
      ...options,
    });
    return answer.is_revoked;
  }
}
