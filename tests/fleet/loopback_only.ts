/**
 * Loaded before a program that would listen on every interface: it makes the program listen on
 * loopback instead.
 */
import { Server } from "node:net";

const listen = Server.prototype.listen;

Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  const [first, second] = args;
  const withHost = typeof first === "object" && first !== null
    ? [{ ...first, host: "127.0.0.1" }, ...args.slice(1)]
    : typeof second === "string"
    ? [first, "127.0.0.1", ...args.slice(2)]
    : [first, "127.0.0.1", ...args.slice(1)];
  return Reflect.apply(listen, this, withHost);
} as typeof listen;
