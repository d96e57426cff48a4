const DEFAULT_SECONDS = 15;

/**
 * Waits for the first answer of a database, as long as `connect_timeout` of its URL says. The driver's
 * own limit ends when a connection opens, so that a server of another kind could hold it for good.
 */
export async function withinConnectLimit(url: string, answer: PromiseLike<unknown>): Promise<void> {
  const seconds = Number(new URL(url).searchParams.get("connect_timeout")) || DEFAULT_SECONDS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error("No answer"), { code: "CONNECT_TIMEOUT" });
    timer = setTimeout(() => reject(error), seconds * 1_000);
  });
  try {
    await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
