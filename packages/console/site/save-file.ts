/** Time for which the file stays available in milliseconds: some browsers start late or prompt for its name first. */
const readableForMs = 600_000;

/** Has the browser save a file. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), readableForMs);
}
