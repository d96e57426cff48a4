import {
  Activity,
  BookOpenText,
  ChartColumn,
  Database,
  FlaskConical,
  Inbox,
  ListTree,
  ReceiptText,
  Settings,
  SlidersHorizontal,
  Wrench,
} from "@lucide/vue";
import type { Component } from "vue";

/** An entry in the navigation. */
export interface NavigationPage {
  readonly path: string;
  readonly title: string;
  readonly icon: Component;
  /** Second key after `g`. */
  readonly key: string;
  /** The condition for showing the page. @default always shown */
  readonly needs?: "supabase_server" | "operator" | "eval_runs";
}

/** All pages, in the order of the navigation. */
export const PAGES: readonly NavigationPage[] = [
  { path: "/jobs", title: "Jobs", icon: ListTree, key: "j" },
  { path: "/reviews", title: "Reviews", icon: Inbox, key: "r" },
  { path: "/tools", title: "Tools", icon: Wrench, key: "t" },
  { path: "/sql", title: "SQL", icon: Database, key: "q", needs: "supabase_server" },
  { path: "/calls", title: "Calls", icon: ReceiptText, key: "c" },
  { path: "/usage", title: "Usage", icon: ChartColumn, key: "u" },
  { path: "/evals", title: "Evals", icon: FlaskConical, key: "e", needs: "eval_runs" },
  { path: "/documents", title: "Documents", icon: BookOpenText, key: "d" },
  { path: "/operations", title: "Operations", icon: Activity, key: "o", needs: "operator" },
  { path: "/setup", title: "Setup", icon: SlidersHorizontal, key: "x", needs: "operator" },
  { path: "/settings", title: "Settings", icon: Settings, key: "s" },
];
