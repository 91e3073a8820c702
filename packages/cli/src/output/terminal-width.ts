/** Returns the width of the terminal that standard output goes to; `Infinity` for a pipe or a file. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}
