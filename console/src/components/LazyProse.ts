import { defineAsyncComponent } from "vue";

/** Prose, whose parser and sanitizer are loaded with the first text. */
export const LazyProse = defineAsyncComponent(() => import("./Prose.vue"));
