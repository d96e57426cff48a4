import process from "node:process";

/** Shows how many files Deno has downloaded. */
export interface ShownDownloads {
  /** Counts those that this output names. */
  add(printed: string): void;
  end(): void;
}

/** Shows nothing where nobody watches, or when the program prints for other programs. */
export function showDownloads(args: readonly string[]): ShownDownloads {
  const { stderr } = process;
  const isShown = stderr.isTTY && !args.includes("--json");
  let count = 0;
  const show = (text: string) => {
    if (isShown) stderr.write(`\r\x1b[K${text}`);
  };
  show("First start: downloading the packages …");
  return {
    add(printed) {
      count += printed.match(/^Download /gm)?.length ?? 0;
      show(`First start: downloading the packages, ${count} files …`);
    },
    end: () => show(""),
  };
}
