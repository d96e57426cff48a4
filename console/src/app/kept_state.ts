import { onScopeDispose, type Ref, ref } from "vue";

const STORED_KEY = "supaswarm.kept_state";

/** What to keep when the page reloads for a new release, by name. */
const kept = new Map<string, Ref<unknown>>();
let restored: Readonly<Record<string, unknown>> | undefined;

/**
 * A ref for what a user types, whose value survives a reload for a new release.
 *
 * @param name The same after the reload, and different from that of every other form.
 */
export function keptRef<Value>(name: string, initial: Value): Ref<Value> {
  restored ??= takeStored();
  const { [name]: value, ...others } = restored;
  restored = others;
  const state = ref(value === undefined ? initial : value) as Ref<Value>;
  kept.set(name, state);
  // What was sent, or left with its page, is not restored.
  onScopeDispose(() => kept.delete(name), true);
  return state;
}

/** Stores all kept values for the page that is loaded next. */
export function storeKeptState(): void {
  const values = [...kept].map(([name, { value }]) => [name, value]);
  sessionStorage.setItem(STORED_KEY, JSON.stringify(Object.fromEntries(values)));
}

function takeStored(): Record<string, unknown> {
  const text = sessionStorage.getItem(STORED_KEY) ?? "{}";
  sessionStorage.removeItem(STORED_KEY);
  return JSON.parse(text);
}
