/** The wire formats of answers. */
export type WireForm = "chat" | "responses" | "anthropic" | "google";

/** One recorded answer. */
export interface Recording {
  /** Its file, and its place in it. */
  readonly name: string;
  /** The host, or the name that the suite gives the provider. */
  readonly provider: string;
  readonly form: WireForm;
  readonly status: number;
  /** As it came over the wire: JSON, or server-sent events. */
  readonly body: string;
  readonly isStream: boolean;
  /** The answer, or its events. */
  readonly parts: readonly unknown[];
  /** The answer to the next request of the same test. */
  readonly next?: Recording;
}
