import { consoleSite } from '@actlog/console';
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
  // Relative, so that it stays below whatever path a proxy serves the server at.
  url: '../openapi.json',
  pageTitle: 'actlog API reference',
  withDefaultFonts: false,
  // As they are declared: what belongs together stands together.
  orderSchemaPropertiesBy: 'preserve',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
} as const;

/** Mounts the API reference at `/docs`, with its script served by this server. */
export async function mountDocs(app: FastifyInstance): Promise<void> {
  await app.register(async (page) => {
    page.addHook('onRequest', (request, reply, done) => {
      reply.header('content-security-policy', pagePolicy);
      // The package's own redirect would leave that path.
      if (request.routeOptions.url === '/docs') void reply.redirect('./docs/');
      else done();
    });
    page.get('/favicon.ico', async (_request, reply) => {
      const icon = (await consoleSite())['icon.svg'];
      return reply.type(icon?.type ?? '').send(icon?.body);
    });
    await page.register(scalar, {
      routePrefix: '/docs',
      configuration: pageConfiguration,
    });
  });
}
