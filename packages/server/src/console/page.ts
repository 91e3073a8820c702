import { consoleSecurityPolicy, consoleSite } from '@actlog/console';
import type { FastifyInstance } from 'fastify';
import { isUnchanged } from '../http/representation.ts';
import { noSuchEndpoint } from '../lib/api-error.ts';
import { encodedBody } from './site-response.ts';

/**
 * Mounts the console at `/console/`. Its files are the same for everyone and need no key. It requests its data from
 * `/v1` with the key of the signed-in user.
 */
export function mountConsolePage(app: FastifyInstance): void {
  // Relative, so that it works below any path at which a proxy serves the server.
  app.get('/console', (_request, reply) => reply.redirect('./console/'));
  app.get<{ Params: { file: string } }>('/console/:file', async (request, reply) => {
    const files = await consoleSite();
    const name = request.params.file || 'index.html';
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) throw noSuchEndpoint();
    const { body, headers } = encodedBody(file, request.headers['accept-encoding']);
    reply.headers({ ...headers, 'content-security-policy': consoleSecurityPolicy });
    if (isUnchanged(headers.etag, request.headers['if-none-match'])) return reply.code(304).send();
    return reply.type(file.type).send(body);
  });
}
