const RELOADED_KEY = "supaswarm.reloaded_at";
/** A file that is still missing so soon after a reload is not there at all. */
const RELOAD_INTERVAL_MS = 10_000;

/**
 * Loads the page anew when one of its files is gone. A page that stays open while another release
 * of the console is put in its place asks for files that only the release before had.
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
