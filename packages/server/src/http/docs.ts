import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { DocsSite } from '@actlog/docs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

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
    if (isCurrent(request, file.headers.etag)) return reply.code(304).send();
    if (!acceptsGzip(request)) return reply.send(await decompress(file.gzip));
    return reply.header('content-encoding', 'gzip').send(file.gzip);
  });
}

function notFound(reply: FastifyReply, path: string): FastifyReply {
  const home = '../'.repeat(path.split('/').length - 1) || './';
  const page = `<!doctype html><html lang="en"><title>Page not found</title><h1>Page not found</h1><p><a href="${home}">Documentation of actlog</a></p></html>\n`;
  return reply.code(404).type('text/html; charset=utf-8').send(page);
}

/** `true` if the client has this version of a file: its list of tags contains it, weak or strong. */
function isCurrent({ headers }: FastifyRequest, etag: string | undefined): boolean {
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return etag !== undefined && known !== undefined && (known.includes(etag) || known.includes('*'));
}

function acceptsGzip({ headers }: FastifyRequest): boolean {
  const encodings = headers['accept-encoding']?.toString().split(',') ?? [];
  return encodings.some((encoding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(encoding));
}
