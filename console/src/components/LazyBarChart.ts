import { defineAsyncComponent } from "vue";

/** Loads the chart and its library when there is something to draw. */
export const LazyBarChart = defineAsyncComponent(() => import("./BarChart.vue"));
