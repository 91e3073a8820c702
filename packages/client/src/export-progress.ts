/** How far an export is. */
export interface ExportProgress {
  /** Bytes that came in the present try. */
  readonly bytes: number;
  /** Events that came in the present try. */
  readonly events: number;
}
