import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { type AddressGuard, ForbiddenAddressError } from './address-guard.ts';

/** Milliseconds for a receiver to take a connection, and then to answer (Standard Webhooks advises 15 to 30 s). */
const connectTimeoutMs = 10_000;
const answerTimeoutMs = 15_000;

/**
 * An HTTP agent that connects only to permitted addresses: a literal one is looked at as it stands, a name as it
 * resolves for this connection, and the socket once more by its peer. Redirects are not followed. Each try has a
 * connection to itself: a receiver of one tenant that never answers does not hold up another's on the same host.
 */
export function guardedAgent(guard: AddressGuard): Agent {
  const connect = buildConnector({ lookup: guard.lookup, timeout: connectTimeoutMs });
  return new Agent({
    allowH2: false,
    pipelining: 1,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    maxHeaderSize: 16_384,
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) && !guard.permits(host)) return callback(new ForbiddenAddressError(), null);
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        if (!guard.permits(socket.remoteAddress ?? '')) {
          socket.destroy();
          return callback(new ForbiddenAddressError(), null);
        }
        callback(null, socket);
      });
    },
  });
}
