/** What has become of a recorder's events. All but `spooled` add up to what it recorded and adopted. */
export interface FlushResult {
  /** Events that the service has, since the recorder was made. */
  readonly delivered: number;
  /** Events that it does not have yet. */
  readonly pending: number;
  /** Of the pending ones, those that stand on disk and survive the end of the process. */
  readonly spooled: number;
  /** Events that are lost, since the recorder was made. */
  readonly dropped: number;
  /** Events that the service refused for good, since the recorder was made. */
  readonly deadLettered: number;
}

/** Settings of a wait. */
export interface WaitOptions {
  /** Most milliseconds to wait. */
  readonly timeoutMs?: number | undefined;
}
