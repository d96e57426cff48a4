const RELOADED_KEY = "supaswarm.reloaded_at";
/** A file that is still missing this soon after a reload does not exist. */
const RELOAD_INTERVAL_MS = 10_000;

/**
 * Reloads the page when one of its files is missing. A page that stays open while another release
 * of the console is deployed requests files that only the previous release had.
 */
export function reloadAfterRelease(): void {
  addEventListener("vite:preloadError", (event) => {
    const reloadedAt = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0);
    if (Date.now() - reloadedAt < RELOAD_INTERVAL_MS) return;
    event.preventDefault();
    sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
    location.reload();
  });
}
