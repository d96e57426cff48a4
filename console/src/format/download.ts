/** Saves a blob as a file on the user's device. */
export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download keeps the data once it has started.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves text as a file. */
export function downloadText(text: string, { name, type }: { name: string; type: string }): void {
  downloadBlob(new Blob([text], { type: `${type};charset=utf-8` }), name);
}
