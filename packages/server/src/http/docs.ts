import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { DocsSite } from '@actlog/docs';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { acceptedEncodings, isUnchanged } from './representation.ts';

const decompress = promisify(gunzip);

/** Page for servers without the package of the documentation. */
const howToInstall =
  'The documentation is in the package @actlog/docs: install it beside @actlog/server, then restart the server.\n';

/** Loads the documentation. `undefined` if its package is not installed. */
export type LoadDocs = () => Promise<DocsSite | undefined>;

/** Loads the documentation from the package `@actlog/docs`. */
export const loadInstalledDocs: LoadDocs = async () => {
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
