import { SECRET_NAME } from "../../../shared/gateway/mcps_file/secret_name.ts";

/** More names that may hold secrets: a file that is written must have none. */
const LIKELY_SECRET_NAME =
  /auth(?!or)|token|secret|passw|passphrase|credential|session|cookie|signature|jwt|bearer|private|api[-_]?key|access[-_]?key|^(sig|pwd|appid|app_id|client_id|pin)$/i;
/** Values that are secrets whatever their name: keys with the prefix of their vendor, and JWTs. */
const SECRET_VALUE =
  /^(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abposr]|AKIA|ASIA|AIza|SG|hf|npm|pat|key|whsec)[-_.]?[\w.-]{12,}$|^eyJ[\w-]+\.[\w-]+\.|^(Bearer|Basic|Token|Digest)\s/i;
/** A random text: long, without spaces, with letters and digits. */
const RANDOM = /^(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[\w+/=.~-]{24,}$/;

/** Whether a value must not be written into a file. */
export function isSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || LIKELY_SECRET_NAME.test(name) || isSecretValue(value);
}

/** Whether a text is a secret by itself, so that it must not be part of a name either. */
export function isSecretValue(text: string): boolean {
  return SECRET_VALUE.test(text) || RANDOM.test(text);
}

/** The name of a variable that is the whole value, such as `$TOKEN`; null for other values. */
export function variableOf(value: string): string | null {
  return /^(?:\$\{?|%|<|\{\{?\s*)([A-Za-z_][\w-]*)(?:\}|%|>|\s*\}\}?)?$/.exec(value)?.[1] ?? null;
}
