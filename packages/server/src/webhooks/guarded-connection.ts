import { isIP } from 'node:net';
import type { Agent } from 'undici';
import { type AddressGuard, ForbiddenAddressError, portOf } from './address-guard.ts';
import * as undici from './undici.js';

/** Timeouts for connecting and for the response, in milliseconds (Standard Webhooks recommends 15 to 30 s). */
const connectTimeoutMs = 10_000;
const responseTimeoutMs = 15_000;

/**
 * Creates an HTTP agent that connects only to permitted ports and addresses. It checks a literal address as it is, a
 * name by the addresses to which it resolves, and each socket by its peer. It does not follow redirects. Each attempt
 * has its own connection, so an unresponsive receiver of one tenant does not delay another on the same host.
 */
export function guardedAgent(guard: AddressGuard): Agent {
  const connect = undici.buildConnector({ lookup: guard.lookup, timeout: connectTimeoutMs });
  return new undici.Agent({
    allowH2: false,
    pipelining: 1,
    headersTimeout: responseTimeoutMs,
    bodyTimeout: responseTimeoutMs,
    maxHeaderSize: 16_384,
    connect: (options, callback) => {
      try {
        guard.requirePort(portOf(options));
      } catch (error) {
        return callback(error as Error, null);
      }
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
