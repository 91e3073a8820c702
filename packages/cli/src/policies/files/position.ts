/** Place in a file, for editors and terminals. Lines and columns start at 1. */
export interface Position {
  /** Path of the file as the user named it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Formats a position as `file:line:column`, which terminals and editors open. */
export function positionText({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}
