import type { Actor } from "../actor.ts";
import type { Caller } from "./caller.ts";

/** The role in which an authenticated caller acts. */
export function actorOf(caller: Caller): Actor {
  if (caller.kind !== "user") return caller.kind;
  return caller.clientId === null ? "user" : "client";
}
