import { hash, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { DocsSite } from '@actlog/docs';
import { openApiDocument } from '@actlog/protocol/openapi';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import { isLoopbackHost } from '../lib/is-loopback-host.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { jsonType } from './mount.ts';
import { acceptedEncodings, isUnchanged } from './request-input.ts';

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

const decompress = promisify(gunzip);

/** Page for servers without the package of the documentation. */
const howToInstall =
  'The documentation is in the package @actlog/docs: install it beside @actlog/server, then restart the server.\n';

/** Loads the documentation. `undefined` if its package is not installed. */
type LoadDocs = () => Promise<DocsSite | undefined>;

/** Loads the documentation from the package `@actlog/docs`. */
const loadInstalledDocs: LoadDocs = async () => {
  const installed = await import('@actlog/docs').catch(() => undefined);
  return installed?.docsSite().catch(() => undefined);
};

/**
 * Mounts the documentation at `/docs`, with the reference of the HTTP API. It is read on the first request. Without the
 * package `@actlog/docs`, the response says how to get it.
 */
export function mountDocs(app: FastifyInstance, load: LoadDocs = loadInstalledDocs): void {
  // Relative, so that it works below any path at which a proxy serves the server.
  app.get('/docs', (_request, reply) => reply.redirect('./docs/'));
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const site = await load();
    if (site === undefined) return reply.code(404).type('text/plain; charset=utf-8').send(howToInstall);
    const path = request.params['*'];
    const file = site.file(path);
    if (file === undefined) return notFound(reply, path);
    reply.headers(file.headers).header('vary', 'accept-encoding');
    if (isUnchanged(file.headers.etag, request.headers['if-none-match'])) return reply.code(304).send();
    const accepted = acceptedEncodings(request.headers['accept-encoding']?.toString() ?? '');
    const acceptsGzip = accepted.has('gzip') || accepted.has('*');
    if (!acceptsGzip) return reply.send(await decompress(file.gzip));
    return reply.header('content-encoding', 'gzip').send(file.gzip);
  });
}

function notFound(reply: FastifyReply, path: string): FastifyReply {
  const home = '../'.repeat(path.split('/').length - 1) || './';
  const page = `<!doctype html><html lang="en"><title>Page not found</title><h1>Page not found</h1><p><a href="${home}">Documentation of actlog</a></p></html>\n`;
  return reply.code(404).type('text/html; charset=utf-8').send(page);
}
