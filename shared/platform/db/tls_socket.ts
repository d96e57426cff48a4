import { connect as connectTcp, isIP, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

/**
 * The TLS mode, as in `sslmode`: `prefer` uses TLS if the server offers it, `require` requires it,
 * `verify` also verifies the server's certificate.
 */
export type TlsMode = "off" | "prefer" | "require" | "verify";

/** Where the driver connects; it tries the hosts in order. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false | undefined;
}

const DEFAULT_PORT = 5432;
/** Connection timeout, including TLS. */
const CONNECT_TIMEOUT_MS = 10_000;

const SSL_REQUEST = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);
const SSL_ACCEPTED = "S".charCodeAt(0);

/** The mode of a connection string. */
export function tlsModeOf(url: string): TlsMode {
  const query = new URL(url).searchParams;
  switch (query.get("sslmode") ?? query.get("ssl") ?? "prefer") {
    case "disable":
    case "false":
      return "off";
    case "allow":
    case "prefer":
      return "prefer";
    case "require":
    case "no-verify":
      return "require";
    default:
      return "verify";
  }
}

/** Called once if `prefer` continues without TLS although the server offers it. */
export type ReportPlainText = (reason: string) => void;

/** Opens a socket for the driver. */
export type SocketOpener = (target: Target) => Promise<Duplex>;

/**
 * Creates the function that opens sockets for postgres.js. The driver's own TLS upgrade waits one
 * turn of the event loop between the server's answer and the handshake; in the edge runtime's Deno
 * the socket is being read again by then, and the handshake never starts.
 *
 * The function never throws: the driver expects a socket that emits an error.
 */
export function createSocketOpener(
  mode: TlsMode,
  reportPlainText: ReportPlainText = () => {},
): SocketOpener {
  const report = once(reportPlainText);
  const probe = mode === "off" || canSkipVerification() ? null : createProbe(report);
  return async (target) => {
    try {
      return readAfterWrite(await openFirst(target, { mode, probe, report }));
    } catch (error) {
      return failingSocket(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

function once(report: ReportPlainText): ReportPlainText {
  let isReported = false;
  return (reason) => {
    if (!isReported) report(reason);
    isReported = true;
  };
}

interface Dialing {
  readonly mode: TlsMode;
  readonly probe: Probe | null;
  readonly report: ReportPlainText;
}

async function openFirst(
  { host: hosts, port: ports, path }: Target,
  { mode, probe, report }: Dialing,
): Promise<Socket> {
  if (path) return await open(() => connectTcp(path), "off", "");
  let failure: unknown = new TypeError("Cannot connect: the connection string has no host");
  for (const [index, host] of hosts.entries()) {
    try {
      const port = ports[index] ?? DEFAULT_PORT;
      const possible = probe === null ? mode : await probe(host, port, mode);
      return await openHost(host, port, { mode: possible, report });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function openHost(
  host: string,
  port: number,
  { mode, report }: Pick<Dialing, "mode" | "report">,
): Promise<Socket> {
  const dial = () => connectTcp(port, host);
  try {
    return await open(dial, mode, host);
  } catch (error) {
    // Like libpq: `prefer` falls back to a connection without TLS.
    if (mode !== "prefer" || !(error instanceof TlsFailure)) throw error;
    report(error.message);
    return await open(dial, "off", host);
  }
}

/**
 * Whether `rejectUnauthorized: false` has an effect. Before Deno 2.4, as in the edge runtime, every
 * certificate is verified, and an untrusted one causes an uncatchable error.
 */
function canSkipVerification(): boolean {
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)\.\d+\D*$/.exec(Deno.version.deno) ?? [];
  return Number(major) > 2 || Number(major) === 2 && Number(minor) >= 4;
}

/** The mode in which a server can be reached. @throws Error if it is weaker than required. */
type Probe = (host: string, port: number, wanted: TlsMode) => Promise<TlsMode>;

/** Tries a handshake with each server once, on a separate connection without login. */
function createProbe(report: ReportPlainText): Probe {
  const refusals = new Map<string, Promise<Error | null>>();
  return async (host, port, wanted) => {
    const key = `${host}:${port}`;
    const tried = refusals.get(key) ?? tryHandshake(host, port);
    refusals.set(key, tried);
    // A server that is down now may be available at the next connection.
    tried.catch(() => refusals.delete(key));
    const refusal = await tried;
    if (refusal === null) return wanted;
    if (wanted === "prefer") {
      if (refusal instanceof TlsFailure) report(refusal.message);
      return "off";
    }
    throw new Error(
      `Cannot connect to ${host} over TLS: ${refusal.message}. Trust its certificate's authority, ` +
        "or use sslmode=prefer",
      { cause: refusal },
    );
  };
}

/** Null if a handshake succeeds. @throws if the server is unreachable. */
async function tryHandshake(hostname: string, port: number): Promise<Error | null> {
  const connection = await Deno.connect({ hostname, port });
  let secured: Deno.TlsConn | null = null;
  try {
    await connection.write(SSL_REQUEST);
    const answer = new Uint8Array(1);
    await connection.read(answer);
    if (answer[0] !== SSL_ACCEPTED) return new Error("the server does not offer TLS");
    secured = await Deno.startTls(connection, { hostname });
    await secured.handshake();
    return null;
  } catch (error) {
    return new TlsFailure(error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    close(secured ?? connection);
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // A failed handshake has closed it.
  }
}

/** The server offers TLS, but the handshake fails. */
class TlsFailure extends Error {
  override readonly name = "TlsFailure";
}

function open(dial: () => Socket, mode: TlsMode, host: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = dial();
  let stage: "tcp" | "tls" = "tcp";
  const fail = (error: Error) => {
    clearTimeout(timer);
    socket.destroy();
    reject(stage === "tls" ? new TlsFailure(error.message, { cause: error }) : error);
  };
  const succeed = (opened: Socket) => {
    clearTimeout(timer);
    socket.removeListener("error", fail);
    opened.removeListener("error", fail);
    resolve(opened);
  };
  const timer = setTimeout(() => fail(timedOut(host)), CONNECT_TIMEOUT_MS);
  socket.once("error", fail);
  socket.once("connect", () => {
    if (mode === "off") return succeed(socket);
    socket.once("data", (answer: Uint8Array) => {
      if (answer[0] !== SSL_ACCEPTED) {
        if (mode === "prefer") return succeed(socket);
        return fail(new Error(`Cannot connect to ${host}: the server does not offer TLS`));
      }
      stage = "tls";
      const secured = connectTls({
        socket,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        rejectUnauthorized: mode === "verify",
      });
      secured.once("error", fail);
      secured.once("secureConnect", () => succeed(secured));
    });
    socket.write(SSL_REQUEST);
  });
  return promise;
}

/** Has the code of the driver's own timeout. */
function timedOut(host: string): Error {
  return Object.assign(new Error(`Cannot connect to ${host} in ${CONNECT_TIMEOUT_MS} ms`), {
    code: "CONNECT_TIMEOUT",
  });
}

/** A socket that accepts writes and then emits an error, once listeners can be attached. */
function failingSocket(error: Error): Duplex {
  return new Duplex({
    read() {},
    // Not before: see readAfterWrite().
    write: (_chunk, _encoding, done) => done(error),
  });
}

/**
 * Holds back a socket's data and end until the driver has written to it. The driver sends its first
 * message one turn of the event loop after it gets the socket, and fails if the socket closes in
 * between. A server sends nothing before that message.
 */
function readAfterWrite(socket: Socket): Socket {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.pause();
  socket.write = (...args: unknown[]) => {
    socket.write = write;
    const isDrained = write(...args);
    socket.resume();
    return isDrained;
  };
  return socket;
}
