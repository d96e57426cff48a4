/** The relevant part of the response of `/auth/v1/settings`. */
export interface AuthSettings {
  readonly external?: Readonly<Record<string, boolean>>;
  readonly disable_signup?: boolean;
  readonly mailer_autoconfirm?: boolean;
}

/** The available sign-in methods. */
export interface SignInWays {
  readonly password: boolean;
  readonly magicLink: boolean;
  readonly signUp: boolean;
  /** Names of OAuth providers. */
  readonly providers: readonly string[];
}

/** Kinds of `external` that are not OAuth providers. */
const NOT_OAUTH = new Set(["email", "phone", "anonymous_users", "saml", "web3"]);

/**
 * The sign-in methods that the project enables. Where email addresses are confirmed automatically,
 * no email is ever sent, so no link is offered.
 */
export function signInWays(settings: AuthSettings): SignInWays {
  const { external = {}, disable_signup: isClosed = false } = settings;
  const hasEmail = external.email ?? true;
  return {
    password: hasEmail,
    magicLink: hasEmail && settings.mailer_autoconfirm !== true,
    signUp: hasEmail && !isClosed,
    providers: Object.keys(external).filter((name) => external[name] && !NOT_OAUTH.has(name)),
  };
}
