import type { JsonObject } from "../../shared/json.ts";

/** What one member shows: its payload and a reference that is new at each change. */
export type PresenceMeta = JsonObject & { readonly phx_ref: string };

/** Members by key, as `presence_state` sends them. */
export interface PresenceList {
  readonly [key: string]: { readonly metas: readonly PresenceMeta[] };
}

/** What a change adds and removes, as `presence_diff` sends it. */
export type PresenceDiff = {
  readonly joins: PresenceList;
  readonly leaves: PresenceList;
};

/** The members present on one topic. Members are distinguished by identity; keys may be shared. */
export class PresenceState<Member extends object> {
  readonly #entries = new Map<Member, { readonly key: string; readonly meta: PresenceMeta }>();
  readonly #newRef: () => string;

  /** @param newRef Makes a reference that was never used before. */
  constructor(newRef: () => string) {
    this.#newRef = newRef;
  }

  /**
   * Shows `payload` under `key`, in place of what the member showed before.
   *
   * @returns The difference, or `null` when the member showed the same already.
   */
  track(member: Member, key: string, payload: JsonObject): PresenceDiff | null {
    const previous = this.#entries.get(member);
    const ref = this.#newRef();
    if (previous === undefined) {
      const meta = { ...payload, phx_ref: ref };
      this.#entries.set(member, { key, meta });
      return { joins: { [key]: { metas: [meta] } }, leaves: {} };
    }
    if (isSamePayload(previous.meta, payload)) return null;
    const meta = { ...payload, phx_ref: ref, phx_ref_prev: previous.meta.phx_ref };
    this.#entries.set(member, { key, meta });
    return {
      joins: { [key]: { metas: [meta] } },
      leaves: { [previous.key]: { metas: [previous.meta] } },
    };
  }

  /** Shows nothing of the member any more; `null` when it showed nothing before. */
  untrack(member: Member): PresenceDiff | null {
    const previous = this.#entries.get(member);
    if (previous === undefined) return null;
    this.#entries.delete(member);
    return { joins: {}, leaves: { [previous.key]: { metas: [previous.meta] } } };
  }

  /** Everyone who is present, grouped by key. */
  list(): PresenceList {
    const groups = new Map<string, PresenceMeta[]>();
    for (const { key, meta } of this.#entries.values()) {
      groups.set(key, [...groups.get(key) ?? [], meta]);
    }
    return Object.fromEntries([...groups].map(([key, metas]) => [key, { metas }]));
  }
}

function isSamePayload(meta: PresenceMeta, payload: JsonObject): boolean {
  const { phx_ref: _ref, phx_ref_prev: _previousRef, ...shown } = meta;
  return JSON.stringify(shown) === JSON.stringify(payload);
}
