import { consoleSite } from '@actlog/console';
import type { FastifyInstance } from 'fastify';

/**
 * Content security policy of the page: it runs its own script and styles and connects only to this server. Its renderer
 * compiles code at run time, on the origin of the console, which is why the page is off by default.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Options of the renderer that turn off every feature that would send the document to, or link to, its vendor. */
const pageConfiguration = {
  // Relative, so that it works below any path at which a proxy serves the server.
  url: '../openapi.json',
  pageTitle: 'actlog API reference',
  withDefaultFonts: false,
  // In the order of declaration, which keeps related properties together.
  orderSchemaPropertiesBy: 'preserve',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
} as const;

/**
 * Mounts the API reference at `/docs`, with its script served by this server.
 *
 * @throws Error when the package that renders it is not installed.
 */
export async function mountDocs(app: FastifyInstance): Promise<void> {
  const { default: scalar } = await import('@scalar/fastify-api-reference').catch((cause: unknown) => {
    throw new Error(
      'The setting docs needs the package @scalar/fastify-api-reference: install it, or leave the setting out. /openapi.json is served without it.',
      { cause },
    );
  });
  await app.register(async (page) => {
    page.addHook('onRequest', (request, reply, done) => {
      reply.header('content-security-policy', pagePolicy);
      // The redirect of the package would lose a proxy's path.
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
