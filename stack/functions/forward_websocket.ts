import { FunctionFailure } from "./function_failure.ts";
import { forwardedHeaders, type ForwardTarget } from "./forward_request.ts";

/** Maps reserved close codes to 1000: a program may send only 1000 and 3000 to 4999. */
function sendableCode(code: number): number {
  return code === 1000 || (code >= 3000 && code <= 4999) ? code : 1000;
}

/** Whether a request asks for a websocket. */
export function isWebSocketRequest(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/**
 * Opens a websocket to an isolate, then accepts the client's with the subprotocol that the function
 * chose. Passes messages both ways until one side closes or the signal aborts.
 *
 * @throws FunctionFailure when the function does not accept the websocket.
 */
export async function forwardWebSocket(request: Request, target: ForwardTarget): Promise<Response> {
  const protocols = request.headers.get("sec-websocket-protocol")?.split(/\s*,\s*/) ?? [];
  const functionSide = new WebSocket(`ws://127.0.0.1:${target.port}${target.path}`, {
    headers: withoutHandshake(forwardedHeaders(request, target.key)),
    protocols,
  });
  const early: MessageEvent[] = [];
  functionSide.binaryType = "arraybuffer";
  functionSide.onmessage = (event) => early.push(event);
  await opened(functionSide);
  const { socket: clientSide, response } = Deno.upgradeWebSocket(request, {
    ...(functionSide.protocol === "" ? {} : { protocol: functionSide.protocol }),
  });
  clientSide.onopen = () => {
    for (const event of early) clientSide.send(event.data);
    pass(functionSide, clientSide);
  };
  pass(clientSide, functionSide);
  target.signal.addEventListener("abort", () => functionSide.close(1000));
  return response;
}

function pass(from: WebSocket, to: WebSocket): void {
  from.binaryType = "arraybuffer";
  from.onmessage = ({ data }) => {
    if (to.readyState === WebSocket.OPEN) to.send(data);
  };
  from.onclose = ({ code, reason }) => {
    if (to.readyState <= WebSocket.OPEN) to.close(sendableCode(code), reason);
  };
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () =>
      reject(
        new FunctionFailure("FUNCTION_NO_WEBSOCKET", "The function does not accept a websocket"),
      );
  });
}

function withoutHandshake(headers: Headers): Headers {
  for (const name of [...headers.keys()]) {
    if (name.startsWith("sec-websocket-") || name === "host") headers.delete(name);
  }
  return headers;
}
