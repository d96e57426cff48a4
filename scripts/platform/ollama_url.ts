import { SwarmError } from "../../shared/errors/swarm_error.ts";

const DEFAULT_PORT = "11434";

/**
 * Where the Ollama server named by `OLLAMA_HOST` speaks OpenAI's wire format. As Ollama has it: the
 * scheme and the port may be left out, and a server that listens everywhere is found on loopback.
 *
 * @throws SwarmError CONFIG_INVALID when it is no address.
 */
export function ollamaUrl(host: string): string {
  const hasScheme = host.includes("://");
  const url = URL.parse(hasScheme ? host : `http://${host}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new SwarmError("CONFIG_INVALID", `Cannot read OLLAMA_HOST: it is '${host}'`, {
      hint: "Give an address such as 127.0.0.1:11434.",
    });
  }
  if (!hasScheme && url.port === "") url.port = DEFAULT_PORT;
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return new URL("/v1", url).href;
}
