/**
 * The names under which this project has the platform, for the console's configuration: `schema`,
 * and `functions` by the platform's names. Here they are the platform's own.
 */
export const CHOSEN_NAMES: {
  readonly schema?: string;
  readonly functions?: Readonly<Record<string, string>>;
} = {};
