import { defineAsyncComponent } from "vue";
import { lazily } from "../app/lazily.ts";

/** Prose, whose parser and sanitizer are loaded with the first text. */
export const LazyProse = defineAsyncComponent(lazily(() => import("./Prose.vue")));
