import { defineAsyncComponent } from "vue";

/** The chart and its library come when something is drawn. */
export const LazyBarChart = defineAsyncComponent(() => import("./BarChart.vue"));
