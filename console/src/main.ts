import "./design/tokens.css";
import "./design/base.css";
import "./design/controls.css";
import { createApp, h } from "vue";
import { VueQueryPlugin } from "@tanstack/vue-query";
import App from "./app/App.vue";
import { createQueryClient } from "./app/query_client.ts";
import { createConsoleRouter } from "./app/router.ts";
import { applyScheme } from "./app/preferences.ts";
import StartFailure from "./app/StartFailure.vue";
import { openProject } from "./project/project_client.ts";
import { readProjectConfig } from "./project/project_config.ts";
import { takeReturnedFragment } from "./project/returned_fragment.ts";
import { watchConnection } from "./project/connection.ts";
import { watchSession } from "./project/session.ts";

applyScheme();
takeReturnedFragment();
try {
  const config = await readProjectConfig();
  openProject(config);
  watchConnection(`${config.apiUrl}/auth/v1/settings?apikey=${config.publishableKey}`);
  const queries = createQueryClient();
  await watchSession(queries);
  createApp(App)
    .use(VueQueryPlugin, { queryClient: queries })
    .use(createConsoleRouter())
    .mount("#app");
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  createApp({ render: () => h(StartFailure, { message }) }).mount("#app");
}
