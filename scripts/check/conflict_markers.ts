/** Finds the markers that a merge leaves in a text file. Pages with them pass all other checks. */
export function conflictMarkers(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) =>
    /^(?:<{7}|>{7}) /.test(line) ? [`${path}:${index + 1}: a conflict is not resolved`] : []
  );
}
