/** Hears what an asynchronous function of the user's rejects with: nobody else does, and that would end the process. */
export function ignoreRejection(returned: unknown): void {
  if (returned instanceof Promise) returned.catch(() => {});
}
