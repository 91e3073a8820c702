/** Does `work`, each time a transaction of its own, until it says that nothing is left. */
export async function repeat(work: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  while (!signal?.aborted && (await work()));
}
