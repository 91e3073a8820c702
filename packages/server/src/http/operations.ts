import { hash, timingSafeEqual } from 'node:crypto';
import { openApiDocument } from '@actlog/protocol/openapi';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import { isLoopbackHost } from '../lib/is-loopback-host.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { jsonType } from './mount.ts';

/** Options for {@link mountOperations}. */
export interface OperationsOptions {
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly metricsAccess: MetricsAccess;
  /** `true` once the server has begun to stop. */
  isClosing(): boolean;
}

/** Mounts the paths outside `/v1`: health, readiness, metrics and the OpenAPI document. None needs an API key. */
export function mountOperations(
  app: FastifyInstance,
  { storage, metrics, metricsAccess, isClosing }: OperationsOptions,
): void {
  let document: Buffer | undefined;
  app.get('/healthz', (_request, reply) => reply.type(jsonType).send('{"status":"ok"}'));
  app.get('/readyz', async (_request, reply) => {
    if (isClosing()) {
      throw new ApiError('OVERLOADED', 'The server is stopping.', { retryAfterSeconds: 2 });
    }
    try {
      await storage.probe();
    } catch (error) {
      throw new ApiError('OVERLOADED', 'The database does not respond.', {
        retryAfterSeconds: 2,
        cause: error,
      });
    }
    return reply.type(jsonType).send('{"status":"ready"}');
  });
  app.get('/metrics', async (request, reply) => {
    metricsAccess.check(request);
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  app.get('/openapi.json', (_request, reply) => {
    // One buffer for all responses: a string would be copied for each response that waits to be read.
    document ??= Buffer.from(JSON.stringify(openApiDocument()));
    return reply.type(jsonType).send(document);
  });
}

/** Options for {@link MetricsAccess}. */
interface MetricsAccessOptions {
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
