const EVERY_MS = 15_000;

/** Says how far a run of the suite is, while none of its processes ends. */
export interface Progress extends Disposable {
  /** Counts the tests in the output of `deno test`. */
  note(output: string): void;
  /** Writes the line of a process that has ended. */
  end(line: string): void;
}

/**
 * Writes a line whenever nothing was written for a while, to a terminal and to a pipe.
 *
 * @param processCount How many processes the run has.
 */
export function showProgress(
  processCount: number,
  write: (text: string) => void,
  everyMs: number = EVERY_MS,
): Progress {
  const startedAtMs = performance.now();
  let [testCount, endedCount] = [0, 0];
  const tell = () => {
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(0);
    const ended = `${endedCount} of ${processCount} processes have ended`;
    write(`        after ${seconds} s ${testCount} tests have run, ${ended}\n`);
  };
  let timer = setInterval(tell, everyMs);
  return {
    note(output) {
      testCount += output.match(/\.\.\. ?(ok|FAILED) \(/g)?.length ?? 0;
    },
    end(line) {
      endedCount++;
      clearInterval(timer);
      timer = setInterval(tell, everyMs);
      write(line);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
