/** Progress of an export. */
export interface ExportProgress {
  /** Bytes received in the current attempt. */
  readonly bytes: number;
  /** Events received in the current attempt. */
  readonly events: number;
}
