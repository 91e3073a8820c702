/** Place of a session in a list: the values that the list is sorted by. */
export interface SessionPlace {
  readonly startedMs: number;
  readonly id: string;
  /** The score, and -1 without one; only in lists by risk. */
  readonly rank?: number | undefined;
}
