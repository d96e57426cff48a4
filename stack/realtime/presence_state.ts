import type { JsonObject } from "../../shared/platform/values/json.ts";

/** A member's payload, with a reference that is new after each change. */
export type PresenceMeta = JsonObject & { readonly phx_ref: string };

/** Members by key, in the format of `presence_state`. */
export interface PresenceList {
  readonly [key: string]: { readonly metas: readonly PresenceMeta[] };
}

/** What a change adds and removes, in the format of `presence_diff`. */
export type PresenceDiff = {
  readonly joins: PresenceList;
  readonly leaves: PresenceList;
};

/** The members present on one topic. Several members may share a key. */
export class PresenceState<Member extends object> {
  readonly #entries = new Map<Member, { readonly key: string; readonly meta: PresenceMeta }>();
  readonly #newRef: () => string;

  /** @param newRef Creates a reference that was never used before. */
  constructor(newRef: () => string) {
    this.#newRef = newRef;
  }

  /**
   * Sets the member's `payload` under `key` and replaces its earlier one.
   *
   * @returns The difference, or `null` when the payload is unchanged.
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

  /** Removes the member. Returns `null` when the member was not present. */
  untrack(member: Member): PresenceDiff | null {
    const previous = this.#entries.get(member);
    if (previous === undefined) return null;
    this.#entries.delete(member);
    return { joins: {}, leaves: { [previous.key]: { metas: [previous.meta] } } };
  }

  /** Lists all members, grouped by key. */
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
