import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

/** The page runs its own script and styles, and talks to the server that serves it; nothing comes from elsewhere. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Nothing on the page asks, or leads to, the service of its maker: those buttons would send the document away. */
const pageConfiguration = {
  url: '/openapi.json',
  pageTitle: 'actlog API reference',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
} as const;

/** What a browser shows beside the page's name. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b5fff"/>' +
  '<path d="M4 8.5l2.5 2.5L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

/** Mounts the API reference at `/docs`, with its script served by this server; `/` leads there. */
export async function mountDocs(app: FastifyInstance): Promise<void> {
  await app.register(async (page) => {
    page.addHook('onRequest', (_request, reply, done) => {
      reply.header('content-security-policy', pagePolicy);
      done();
    });
    page.get('/', (_request, reply) => reply.redirect('/docs'));
    page.get('/favicon.ico', (_request, reply) => reply.type('image/svg+xml').send(icon));
    await page.register(scalar, {
      routePrefix: '/docs',
      configuration: pageConfiguration,
    });
  });
}
