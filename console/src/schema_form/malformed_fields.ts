import {
  inject,
  type InjectionKey,
  onUnmounted,
  provide,
  type Ref,
  shallowReactive,
  watch,
} from "vue";

/** Problems by the ID of their inputs. */
const MALFORMED: InjectionKey<Map<string, string>> = Symbol("malformed fields");

/**
 * Collects the problems of all fields below whose text is not JSON. Such a field keeps its last
 * value, which is not what the user sees, so the form must not be sent.
 */
export function collectMalformed(): ReadonlyMap<string, string> {
  const problems = shallowReactive(new Map<string, string>());
  provide(MALFORMED, problems);
  return problems;
}

/** Reports the problem of a field, which is empty while its text is JSON, until it is removed. */
export function reportMalformed(inputId: string, problem: Readonly<Ref<string>>): void {
  const problems = inject(MALFORMED, null);
  watch(problem, (text) => {
    if (text === "") problems?.delete(inputId);
    else problems?.set(inputId, text);
  });
  onUnmounted(() => problems?.delete(inputId));
}
