import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on loopback that adds credentials to every request that it passes on. */
export interface CredentialFront extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a front of `target`: the suite's server scenarios send no credentials. Everything else
 * is passed on unchanged, including `host` and `origin`, and an answer is streamed.
 */
export async function startCredentialFront(
  target: string,
  credentials: Readonly<Record<string, string>>,
): Promise<CredentialFront> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const onward = sendRequest(
      { hostname, port, method, path, headers: { ...headers, ...credentials } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${ownPort}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
