import { ref, watch } from "vue";

export type Scheme = "system" | "light" | "dark";

const SCHEME_KEY = "supaswarm.scheme";
const SHORTCUTS_KEY = "supaswarm.single_key_shortcuts";

export const scheme = ref<Scheme>(readScheme());
/**
 * Single-key shortcuts interfere with speech input and screen readers, so users can turn them off.
 */
export const hasSingleKeys = ref(localStorage.getItem(SHORTCUTS_KEY) !== "off");

/** Sets the color scheme of the page and saves both preferences on this device. */
export function applyScheme(): void {
  watch(scheme, (value) => {
    if (value === "system") delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = value;
    localStorage.setItem(SCHEME_KEY, value);
  }, { immediate: true });
  watch(hasSingleKeys, (value) => localStorage.setItem(SHORTCUTS_KEY, value ? "on" : "off"));
}

function readScheme(): Scheme {
  const stored = localStorage.getItem(SCHEME_KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}
