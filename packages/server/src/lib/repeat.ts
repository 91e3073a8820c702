/** Runs `work` until it returns `false` or the signal aborts. Each run is a separate transaction. */
export async function repeat(work: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  while (!signal?.aborted && (await work()));
}
