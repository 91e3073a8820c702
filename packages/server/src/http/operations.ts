import { openApiDocument } from '@actlog/protocol/openapi';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { ApiError } from './api-error.ts';
import { jsonType } from './mount.ts';

/** What the paths for operators answer from. */
export interface OperationsOptions {
  readonly storage: Storage;
  readonly metrics: Metrics;
  /** Whether the server is about to stop. */
  isClosing(): boolean;
}

/** Mounts the paths outside `/v1`: health, readiness, metrics and the OpenAPI document. None needs a key. */
export function mountOperations(
  app: FastifyInstance,
  { storage, metrics, isClosing }: OperationsOptions,
): void {
  let document: string | undefined;
  app.get('/healthz', (_request, reply) => reply.type(jsonType).send('{"status":"ok"}'));
  app.get('/readyz', async (_request, reply) => {
    if (isClosing()) {
      throw new ApiError('OVERLOADED', 'The server is stopping.', { retryAfterSeconds: 2 });
    }
    try {
      await storage.probe();
    } catch (error) {
      throw new ApiError('OVERLOADED', 'The database does not answer.', {
        retryAfterSeconds: 2,
        cause: error,
      });
    }
    return reply.type(jsonType).send('{"status":"ready"}');
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  app.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApiDocument());
    return reply.type(jsonType).send(document);
  });
}
