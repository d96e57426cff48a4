import { defineAsyncComponent } from "vue";
import { lazily } from "../app/lazily.ts";

/** Loads the chart and its library when there is something to draw. */
export const LazySeriesChart = defineAsyncComponent(lazily(() => import("./SeriesChart.vue")));
