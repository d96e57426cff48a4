// Runs inside the console's page, before its own scripts. `open_pages.ts` calls what it defines.

/** Times are milliseconds of `performance.now()`; those that leave the page are Unix times. */
globalThis.probe = (() => {
  const LONG_TASK_MS = 50;
  const unixMs = (at) => performance.timeOrigin + at;

  /** When each frame began, and when the browser had drawn it. */
  let began = [];
  let drawn = [];
  let longTasks = [];
  let isWatching = false;
  const afterDrawing = new MessageChannel();
  afterDrawing.port1.onmessage = () => drawn.push(performance.now());

  function nextFrame() {
    return new Promise((resolve) => requestAnimationFrame(resolve));
  }

  function onFrame(at) {
    if (!isWatching) return;
    began.push(at);
    // The message is handled once the frame at hand has been drawn.
    afterDrawing.port2.postMessage(null);
    requestAnimationFrame(onFrame);
  }

  function watchFrames() {
    [began, drawn, longTasks] = [[], [], []];
    isWatching = true;
    requestAnimationFrame(onFrame);
  }

  /** Ends the watch, and says how long each frame was on the screen. */
  function endFrames() {
    isWatching = false;
    return {
      frame_ms: began.slice(1).map((at, index) => at - began[index]),
      long_task_ms: longTasks.filter((ms) => ms > LONG_TASK_MS),
    };
  }

  new PerformanceObserver((list) => {
    if (isWatching) longTasks.push(...list.getEntries().map(({ duration }) => duration));
  }).observe({ type: "longtask" });

  /** When the first frame after a moment had been drawn. */
  async function drawnAfter(at) {
    for (;;) {
      const found = drawn.find((time) => time >= at);
      if (found !== undefined) return found;
      await nextFrame();
    }
  }

  const tree = () => document.querySelector('[role="tree"]');
  const rows = () => [...document.querySelectorAll("[data-trace-row]")];

  /** Opens a job in the running app, and says when what could be seen. */
  async function openJob(jobId, rowCount) {
    performance.clearResourceTimings();
    watchFrames();
    const openedAt = performance.now();
    location.hash = `#/jobs/${jobId}`;
    let firstRowAt = null;
    for (;;) {
      // Asked in each frame before it is drawn, after Vue has changed the page.
      await nextFrame();
      const step = document.querySelector('[data-trace-row][aria-level="2"]');
      if (step === null) continue;
      firstRowAt ??= performance.now();
      if (tree().scrollHeight >= rowCount * step.offsetHeight) break;
    }
    const allRowsAt = await drawnAfter(performance.now());
    const [firstPage] = performance.getEntriesByType("resource")
      .filter(({ name, responseStatus }) =>
        name.includes("/rpc/read_trace") && responseStatus === 200
      );
    const firstDrawnAt = await drawnAfter(firstRowAt);
    endFrames();
    return {
      first_rows_ms: firstDrawnAt - firstPage.responseEnd,
      all_rows_ms: allRowsAt - openedAt,
    };
  }

  /** Scrolls the trace from its beginning to its end, one move a frame. */
  async function scrollThrough(frameCount) {
    const scroller = tree();
    const way = scroller.scrollHeight - scroller.clientHeight;
    let nodes = 0;
    watchFrames();
    for (let frame = 1; frame <= frameCount; frame++) {
      scroller.scrollTop = way * frame / frameCount;
      await nextFrame();
      nodes = Math.max(nodes, scroller.querySelectorAll("*").length);
    }
    return { ...endFrames(), nodes };
  }

  async function scrollToEnd() {
    tree().scrollTop = tree().scrollHeight;
    await nextFrame();
    await nextFrame();
  }

  /** Notes for each row when it first said what `isWanted` asks. */
  let noted = new Map();
  let noting = null;

  function note() {
    for (const row of rows()) {
      if (!noted.has(row.id) && row.textContent.includes(", done,")) {
        noted.set(row.id, performance.now());
      }
    }
  }

  /** Begins to note when rows are seen to have ended; those that have are left out. */
  function watchEnds() {
    noted = new Map();
    note();
    const before = new Set(noted.keys());
    noting = new MutationObserver(note);
    noting.observe(tree(), { childList: true, characterData: true, subtree: true });
    watchFrames();
    return [...before];
  }

  /** When the frames with those ends had been drawn, in Unix time, by the id of the row. */
  async function endsSeen() {
    const seen = {};
    for (const [id, at] of noted) seen[id] = unixMs(await drawnAfter(at));
    noting.disconnect();
    endFrames();
    return seen;
  }

  /** How many of the rows in the page have not ended. */
  const openRows = () => rows().filter((row) => row.textContent.includes(", running,")).length;

  return {
    endFrames,
    endsSeen,
    openJob,
    openRows,
    scrollThrough,
    scrollToEnd,
    watchEnds,
    watchFrames,
  };
})();
