/** Handles the rejection of a promise returned by a user function, which would otherwise end the process. */
export function ignoreRejection(returned: unknown): void {
  if (returned instanceof Promise) returned.catch(() => {});
}
