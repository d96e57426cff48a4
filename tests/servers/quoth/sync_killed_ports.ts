import type { SyncPorts } from "../../../shared/servers/quoth/sync/sync_ports.ts";

/** Thrown by a killed worker: nothing catches it, since nothing outlives its isolate. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** Makes a call, or does something else. */
type AroundCall = (call: () => Promise<unknown>) => Promise<unknown>;

/**
 * Ports whose every call, to the database, GitHub, the splitter or the embedder, goes through
 * `around`.
 */
export function aroundCalls(ports: SyncPorts, around: AroundCall): SyncPorts {
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => around(async () => await Reflect.apply(value, target, args));
      },
    });
  return {
    ...ports,
    store: wrap(ports.store),
    chunks: wrap(ports.chunks),
    embedPart: (...args) => wrap({ run: ports.embedPart }).run(...args),
    split: (...args) => wrap({ run: ports.split }).run(...args),
    openGitHub: (token) => wrap(ports.openGitHub(token)),
  };
}

/**
 * Ports whose worker dies at its n-th call, before or after it, and does nothing more:
 * every later call throws as well, as in a terminated isolate.
 */
export function killedPorts(
  ports: SyncPorts,
  death: { readonly atCall: number; readonly isAfter: boolean },
): SyncPorts {
  let calls = 0;
  let isDead = false;
  return aroundCalls(ports, async (call) => {
    if (isDead) throw new Killed();
    const isLast = ++calls === death.atCall;
    isDead ||= isLast;
    if (isLast && !death.isAfter) throw new Killed();
    const answer = await call();
    if (isLast) throw new Killed();
    return answer;
  });
}
