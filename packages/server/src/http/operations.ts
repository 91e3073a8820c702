import { openApiDocument } from '@actlog/protocol/openapi';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import type { MetricsAccess } from './metrics-access.ts';
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
