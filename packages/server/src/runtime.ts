/**
 * Bun puts an `undici` of its own in the place of the real one, and that connects to any address: what keeps webhooks
 * from the network that the server stands in would be gone in silence.
 *
 * @throws Error there
 */
export function checkRuntime(): void {
  if (process.versions.bun === undefined) return;
  throw new Error('The server does not run on Bun, which would let webhooks reach any address: use Node.js.');
}
