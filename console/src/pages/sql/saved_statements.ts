import { computed, type Ref, ref, watch } from "vue";
import { userId } from "../../project/session.ts";

/** A statement that the user keeps under a name. */
export interface SavedStatement {
  readonly name: string;
  readonly sql: string;
}

/** The statements that a user keeps on this device, by name. */
export interface SavedStatements {
  readonly list: Readonly<Ref<readonly SavedStatement[]>>;
  /** Replaces a statement of the same name. */
  save(statement: SavedStatement): void;
  remove(name: string): void;
}

export function useSavedStatements(): SavedStatements {
  const key = computed(() => `supaswarm.statements.${userId.value}`);
  const list = ref<readonly SavedStatement[]>([]);
  watch(key, (name) => (list.value = readSaved(localStorage.getItem(name))), { immediate: true });

  function write(next: readonly SavedStatement[]): void {
    list.value = next.toSorted((a, b) => a.name.localeCompare(b.name));
    localStorage.setItem(key.value, JSON.stringify(list.value));
  }

  const others = (name: string) => list.value.filter((one) => one.name !== name);
  return {
    list,
    save: (statement) => write([...others(statement.name), statement]),
    remove: (name) => write(others(name)),
  };
}

/** What another release or another program stored there is ignored. */
function readSaved(text: string | null): SavedStatement[] {
  try {
    const stored: unknown = JSON.parse(text ?? "[]");
    return (Array.isArray(stored) ? stored : []).flatMap((one: Partial<SavedStatement> | null) =>
      typeof one?.name === "string" && typeof one.sql === "string"
        ? [{ name: one.name, sql: one.sql }]
        : []
    );
  } catch {
    return [];
  }
}
