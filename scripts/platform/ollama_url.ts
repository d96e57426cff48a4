import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";

const DEFAULT_PORT = "11434";

/**
 * Returns the URL at which the Ollama server of `OLLAMA_HOST` serves OpenAI's wire format. As in
 * Ollama, the scheme and the port are optional, and 0.0.0.0 means loopback.
 *
 * @throws SwarmError CONFIG_INVALID when the value is not an address.
 */
export function ollamaUrl(host: string): string {
  const hasScheme = host.includes("://");
  const url = URL.parse(hasScheme ? host : `http://${host}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new SwarmError("CONFIG_INVALID", `Cannot read OLLAMA_HOST: it is '${host}'`, {
      hint: "Set it to an address such as 127.0.0.1:11434.",
    });
  }
  if (!hasScheme && url.port === "") url.port = DEFAULT_PORT;
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return new URL("/v1", url).href;
}
