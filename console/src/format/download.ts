/** Saves a blob as a file of the reader's. */
export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own hold on the data once it has begun.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves a text as a file. */
export function downloadText(text: string, { name, type }: { name: string; type: string }): void {
  downloadBlob(new Blob([text], { type: `${type};charset=utf-8` }), name);
}
