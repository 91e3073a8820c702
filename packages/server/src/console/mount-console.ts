import { consoleSecurityPolicy, consoleSite, type SiteEncoding, type SiteFile } from '@actlog/console';
import type { FastifyInstance } from 'fastify';
import { unknownRouteHandler } from '../http/errors.ts';
import { acceptedEncodings, isUnchanged } from '../http/representation.ts';
import { mountServerRoute } from '../http/server-route.ts';
import { noSuchEndpoint } from '../lib/api-error.ts';
import type { Services } from '../services.ts';
import { mountSignIn } from '../sign-in/mount-sign-in.ts';
import { type OpenIdProvider, openIdProvider } from '../sign-in/openid-provider.ts';
import { mountSignOut } from '../sign-in/sign-out.ts';
import type { SignInSettings } from '../sign-in-settings.ts';
import { identityRoute } from './identity.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { learnSessionRoute } from './learn-session.ts';
import { limitsRoute } from './limits.ts';
import { endSignInRoute, listSignInsRoute } from './sign-ins.ts';

/** Mounts the console: its page, its API, and the pages of the sign-in if people sign in by a provider. */
export async function mountConsole(
  app: FastifyInstance,
  services: Services,
  settings: SignInSettings,
): Promise<void> {
  mountConsolePage(app);
  const provider = openIdProvider(settings);
  if (provider) mountSignIn(app, services, provider);
  await mountConsoleApi(app, services, { ...settings, provider });
}

/**
 * Mounts the console at `/console/`. Its files are the same for everyone and need no key. It requests its data from
 * `/v1` with the key of the signed-in user.
 */
function mountConsolePage(app: FastifyInstance): void {
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

/** Encodings of the files, preferred ones first. */
const encodings: readonly SiteEncoding[] = ['br', 'gzip'];

/** Body of a file in the encoding of a response, and the headers that depend on it. */
interface EncodedBody {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a file in the best encoding that a client accepts (RFC 9110, section 12.5.3). */
function encodedBody(file: SiteFile, acceptEncoding = ''): EncodedBody {
  const accepted = acceptedEncodings(acceptEncoding);
  const encoding = encodings.find((name) => accepted.has(name));
  const common = { 'cache-control': file.cacheControl, vary: 'accept-encoding' };
  if (encoding === undefined) return { body: file.body, headers: { ...common, etag: file.etag } };
  return {
    body: Buffer.from(file.compressed[encoding]),
    headers: {
      ...common,
      // A tag names one representation (RFC 9110, section 8.8.3.3).
      etag: file.etag.replace(/"$/, `-${encoding}"`),
      'content-encoding': encoding,
    },
  };
}

const folder = '/console/api';

/** Ways to sign in to the console and out of it. */
interface ConsoleSignIn {
  /** The OpenID provider; `undefined` without one. */
  readonly provider: OpenIdProvider | undefined;
  /** Name of the provider on the sign-in page. */
  readonly oidcLabel: string;
  /** Address at which people sign out of a trusted proxy. */
  readonly proxySignOutUrl?: string | undefined;
}

/**
 * Mounts the routes that the console needs besides `/v1`: the identity and limits of the caller, the keys of the tenant ("They can
 * be rotated through the console", specification, "Authentication"), and the confirmation of sessions. They are private
 * to the console and change with it, so they are not in the endpoint table or in `/openapi.json`.
 */
export async function mountConsoleApi(
  app: FastifyInstance,
  services: Services,
  { provider, oidcLabel, proxySignOutUrl }: ConsoleSignIn,
): Promise<void> {
  const signInRoutes = [
    { method: 'GET', path: '/sign-in' },
    { method: 'POST', path: '/sign-out' },
  ];
  const routes = [
    identityRoute(services, proxySignOutUrl !== undefined),
    limitsRoute(services),
    listKeysRoute(services),
    createKeyRoute(services),
    rotateKeyRoute(services),
    revokeKeyRoute(services),
    listSignInsRoute(services),
    endSignInRoute(services),
    learnSessionRoute(services),
  ];
  await app.register(
    async (api) => {
      api.setNotFoundHandler(
        unknownRouteHandler(
          [...routes, ...signInRoutes].map(({ method, path }) => ({ method, path: folder + path })),
        ),
      );
      mountSignInStatus(api, services, provider && oidcLabel);
      mountSignOut(api, services, provider, proxySignOutUrl);
      for (const route of routes) mountServerRoute(api, services, route);
    },
    { prefix: folder },
  );
}

/**
 * Mounts `GET /console/api/sign-in`, which needs no caller: how people can sign in, and `true` in `signedIn` if the browser
 * already is. With `noRole`, a proxy names a person who has no access.
 *
 * @param label - name of the provider; `undefined` without one
 */
function mountSignInStatus(api: FastifyInstance, { users }: Services, label: string | undefined): void {
  api.get('/sign-in', async (request, reply) => {
    users.screen(request);
    const found = await users.find(request);
    return reply.send({
      provider: label === undefined ? null : { label },
      signedIn: found.type === 'caller',
      noRole: found.type === 'no role' ? found.name : null,
    });
  });
}
