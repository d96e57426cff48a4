import { computed, type Ref, ref, watch } from "vue";
import { userId } from "../project/session.ts";

/** A text that the user keeps under a name. */
export interface SavedText {
  readonly name: string;
  readonly text: string;
}

/** The texts that a user keeps on this device, by name. */
export interface SavedTexts {
  readonly list: Readonly<Ref<readonly SavedText[]>>;
  /** Replaces a text of the same name. */
  save(saved: SavedText): void;
  remove(name: string): void;
}

/** What the user keeps of one kind, such as `statements`. */
export function useSavedTexts(kind: string): SavedTexts {
  const key = computed(() => `supaswarm.${kind}.${userId.value}`);
  const list = ref<readonly SavedText[]>([]);
  watch(key, (name) => (list.value = readSaved(localStorage.getItem(name))), { immediate: true });

  /** Another window may have changed the list. */
  const others = (name: string) =>
    readSaved(localStorage.getItem(key.value)).filter((one) => one.name !== name);

  function write(next: readonly SavedText[]): void {
    list.value = next.toSorted((a, b) => a.name.localeCompare(b.name));
    localStorage.setItem(key.value, JSON.stringify(list.value));
  }

  return {
    list,
    save: (saved) => write([...others(saved.name), saved]),
    remove: (name) => write(others(name)),
  };
}

/** What another release or another program stored there is ignored. */
function readSaved(stored: string | null): SavedText[] {
  try {
    const list: unknown = JSON.parse(stored ?? "[]");
    return (Array.isArray(list) ? list : []).flatMap((one: Partial<SavedText> | null) =>
      typeof one?.name === "string" && typeof one.text === "string"
        ? [{ name: one.name, text: one.text }]
        : []
    );
  } catch {
    return [];
  }
}
