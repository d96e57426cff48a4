import { createRouter, createWebHashHistory, type Router } from "vue-router";
import { watch } from "vue";
import { isSessionRead, isSignedIn } from "../project/session.ts";
import { lazily } from "./lazily.ts";
import JobsPage from "../pages/jobs/JobsPage.vue";

declare module "vue-router" {
  interface RouteMeta {
    /** The name of the page, for the document title. */
    title: string;
    isPublic?: boolean;
  }
}

/** Hash routes, so that the built files work in any folder of a static host. */
export function createConsoleRouter(): Router {
  const router = createRouter({
    history: createWebHashHistory(),
    // A page that only changes its address, such as to name the open step, stays where it is.
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
    routes: [
      { path: "/", redirect: "/jobs" },
      {
        path: "/sign-in",
        component: lazily(() => import("../pages/sign_in/SignInPage.vue")),
        meta: { title: "Sign in", isPublic: true },
      },
      { path: "/jobs", component: JobsPage, meta: { title: "Jobs" } },
      {
        path: "/jobs/new",
        component: lazily(() => import("../pages/new_job/NewJobPage.vue")),
        meta: { title: "New job" },
      },
      {
        path: "/jobs/:id",
        component: lazily(() => import("../pages/job/JobPage.vue")),
        meta: { title: "Job" },
        props: true,
      },
      {
        path: "/jobs/compare/:first/:second",
        component: lazily(() => import("../pages/compare/ComparePage.vue")),
        meta: { title: "Compare jobs" },
        props: true,
      },
      {
        path: "/reviews",
        component: lazily(() => import("../pages/reviews/ReviewsPage.vue")),
        meta: { title: "Reviews" },
      },
      {
        path: "/tools",
        component: lazily(() => import("../pages/tools/ToolsPage.vue")),
        meta: { title: "Tools" },
      },
      {
        path: "/sql",
        component: lazily(() => import("../pages/sql/SqlPage.vue")),
        meta: { title: "SQL" },
      },
      {
        path: "/calls",
        component: lazily(() => import("../pages/calls/CallsPage.vue")),
        meta: { title: "Calls" },
      },
      {
        path: "/usage",
        component: lazily(() => import("../pages/usage/UsagePage.vue")),
        meta: { title: "Usage" },
      },
      {
        path: "/evals",
        component: lazily(() => import("../pages/evals/EvalsPage.vue")),
        meta: { title: "Evals" },
      },
      {
        path: "/evals/:id",
        component: lazily(() => import("../pages/evals/EvalRunPage.vue")),
        meta: { title: "Eval run" },
        props: true,
      },
      {
        path: "/documents",
        component: lazily(() => import("../pages/documents/DocumentsPage.vue")),
        meta: { title: "Documents" },
      },
      {
        path: "/operations",
        component: lazily(() => import("../pages/operations/OperationsPage.vue")),
        meta: { title: "Operations" },
      },
      {
        path: "/setup",
        component: lazily(() => import("../pages/setup/SetupPage.vue")),
        meta: { title: "Setup" },
      },
      {
        path: "/setup/new/:kind",
        component: lazily(() => import("../pages/setup/DefinitionPage.vue")),
        meta: { title: "New definition" },
        props: ({ params }) => ({ kind: params.kind, slug: null }),
      },
      {
        path: "/setup/import-servers",
        component: lazily(() => import("../pages/setup/ServerSyncPage.vue")),
        meta: { title: "Import servers" },
      },
      {
        path: "/setup/:kind/:slug",
        component: lazily(() => import("../pages/setup/DefinitionPage.vue")),
        meta: { title: "Setup" },
        props: true,
      },
      {
        path: "/playground/:agent",
        component: () => import("../pages/playground/PlaygroundPage.vue"),
        meta: { title: "Playground" },
        props: true,
      },
      {
        path: "/settings",
        component: lazily(() => import("../pages/settings/SettingsPage.vue")),
        meta: { title: "Settings" },
      },
      {
        path: "/:path(.*)*",
        component: lazily(() => import("../pages/NotFoundPage.vue")),
        meta: { title: "Not found", isPublic: true },
      },
    ],
  });
  router.beforeEach((to) => {
    if (to.meta.isPublic || isSignedIn.value || !isSessionRead.value) return true;
    return { path: "/sign-in", query: { next: to.fullPath } };
  });
  // A session that ends without the user (signed out elsewhere, refresh refused) leads to the
  // sign-in page.
  watch(isSignedIn, (signedIn) => {
    const route = router.currentRoute.value;
    if (!signedIn && !route.meta.isPublic) {
      void router.replace({ path: "/sign-in", query: { next: route.fullPath } });
    }
  });
  return router;
}
