/** Statuses with which a server rejects the stored state of a connection. */
export const FORGOTTEN_STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 410]);

/** A longer text is an answer. */
const MAX_CHARACTERS = 400;
const NAMES_SESSION = String.raw`(?:mcp[-\s]?)?session(?:[-_\s]?id)?s?`;
const IS_LOST =
  "(?:(?:not|n't) (?:be |been )?(?:found|exist|valid|recognized|known|active|available|initialized)" +
  "|no longer|unknown|unrecognized|invalid|inactive|expired|missing|required|terminated|closed" +
  "|deleted|removed|destroyed|evicted|ended|lost|gone|timed out)";
/** What servers of all languages say to a request of a session that they do not know. */
const LOST_SESSION = new RegExp(
  [
    String.raw`\b${NAMES_SESSION}\b.{0,80}\b${IS_LOST}\b`,
    String.raw`\bno (?:\w+ ){0,4}${NAMES_SESSION}\b`,
    String.raw`\b(?:unknown|invalid|expired|missing|stale|unrecognized) ${NAMES_SESSION}\b`,
    String.raw`\b(?:server|client|connection) (?:is |was |has )?not (?:been |yet )?initialized\b`,
    String.raw`\bbefore initialization\b`,
  ].join("|"),
  "is",
);

/** Whether a server's message means that it does not know the session of the request. */
export function saysSessionIsLost(message: string): boolean {
  return message.length <= MAX_CHARACTERS && LOST_SESSION.test(message);
}
