/**
 * Checks the runtime. Bun replaces `undici` with its own version, which connects to any address. Webhooks could then
 * reach the server's network without any error.
 *
 * @throws Error on Bun.
 */
export function checkRuntime(): void {
  if (process.versions.bun === undefined) return;
  throw new Error('The server does not run on Bun, which would let webhooks reach any address: use Node.js.');
}
