import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import { isLoopbackHost } from '../lib/is-loopback-host.ts';

/** Options for {@link MetricsAccess}. */
export interface MetricsAccessOptions {
  /** Address that the server listens on. */
  readonly host: string;
  /** Access without a token: from a server on a loopback address, or always. */
  readonly metrics: 'loopback' | 'open';
  /** Bearer token that grants access; if set, it is the only way. */
  readonly metricsToken?: string | undefined;
}

/** Controls access to `/metrics`. */
export class MetricsAccess {
  readonly #isOpen: boolean;
  readonly #digest: Buffer | undefined;

  constructor({ host, metrics, metricsToken }: MetricsAccessOptions) {
    this.#digest = metricsToken === undefined ? undefined : digestOf(metricsToken);
    this.#isOpen = metricsToken === undefined && (metrics === 'open' || isLoopbackHost(host));
  }

  /** @throws ApiError `AUTHENTICATION_FAILED` for a request without access. */
  check({ headers: { authorization = '' } }: FastifyRequest): void {
    if (this.#isOpen) return;
    const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    if (this.#digest && timingSafeEqual(digestOf(token), this.#digest)) return;
    const message = this.#digest
      ? 'The token for /metrics is invalid or missing; send it as Authorization: Bearer TOKEN.'
      : 'The metrics need a token except on a loopback address; set ACTLOG_METRICS_TOKEN, or ACTLOG_METRICS=open if the network restricts access.';
    throw new ApiError('AUTHENTICATION_FAILED', message, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
