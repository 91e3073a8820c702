import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { keepNewest } from '../../lib/keep-newest.ts';

/** Failures allowed per address: on average, and in a burst. */
export interface FailureRate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Maximum number of addresses that are remembered. */
const maxAddresses = 10_000;

/** Bytes of an IPv6 address that identify a network; a client chooses the others. */
const networkBytes = 8;

/** Limits the authentication failures of each client address, by the generic cell rate algorithm (ITU-T I.371). */
export class FailedAuthentications {
  readonly #arrivalsMs = new Map<string, number>();
  readonly #rate: FailureRate | false;

  /** @param rate - of each address; `false` for no limit */
  constructor(rate: FailureRate | false) {
    this.#rate = rate;
  }

  /**
   * Counts a failure. Returns 0 while the address is within its rate, otherwise the milliseconds until the next one.
   */
  count(request: FastifyRequest): number {
    if (!this.#rate) return 0;
    const { requestsPerSecond, burst } = this.#rate;
    const intervalMs = 1000 / requestsPerSecond;
    const network = networkOf(request.raw.socket.remoteAddress ?? '');
    const nowMs = performance.now();
    const arrivalMs = Math.max(nowMs, this.#arrivalsMs.get(network) ?? 0);
    const earlyMs = arrivalMs - nowMs - (burst - 1) * intervalMs;
    if (earlyMs > 0) return earlyMs;
    keepNewest(this.#arrivalsMs, network, arrivalMs + intervalMs, maxAddresses);
    return 0;
  }
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, networkBytes)).toString('hex');
}
