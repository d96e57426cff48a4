import type { SyncPorts } from "../../shared/quoth/sync/sync_ports.ts";

/** What a killed worker throws: nobody catches it, as nobody outlives its isolate. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/**
 * Ports whose worker dies at its n-th call, before the call or after it, and does nothing more:
 * whatever it would still do throws as well, as in an isolate that was terminated.
 */
export function mortalPorts(
  ports: SyncPorts,
  death: { readonly atCall: number; readonly isAfter: boolean },
): SyncPorts {
  let calls = 0;
  let isDead = false;
  const mortal = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          if (isDead) throw new Killed();
          const isLast = ++calls === death.atCall;
          isDead ||= isLast;
          if (isLast && !death.isAfter) throw new Killed();
          const answer: unknown = await Reflect.apply(value, target, args);
          if (isLast) throw new Killed();
          return answer;
        };
      },
    });
  return {
    ...ports,
    store: mortal(ports.store),
    chunks: mortal(ports.chunks),
    embedPart: (...args) => mortal({ run: ports.embedPart }).run(...args),
    split: (...args) => mortal({ run: ports.split }).run(...args),
    openGitHub: (token) => mortal(ports.openGitHub(token)),
  };
}
