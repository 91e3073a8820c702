import { connect } from 'node:net';

/**
 * Connects to the host and port of an address, and closes the connection.
 *
 * @returns the error code, such as `ECONNREFUSED`, or `TIMEOUT`; undefined on success
 */
export async function connectTo(url: URL, timeoutMs: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ host: hostOf(url), port: portOf(url), timeout: timeoutMs });
  socket.once('connect', () => resolve(undefined));
  socket.once('timeout', () => resolve('TIMEOUT'));
  socket.once('error', (error) => resolve(codeOf(error)));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** Returns the host of an address, without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the port of an address, or the default one of its scheme. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Returns the code of a system error. For several attempts, of the first. */
export function codeOf(error: unknown): string {
  const { code, errors, message } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code ?? message;
}
