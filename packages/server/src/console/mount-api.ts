import type { FastifyInstance } from 'fastify';
import { unknownRouteHandler } from '../http/errors.ts';
import { mountServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import type { OpenIdProvider } from '../sign-in/openid-provider.ts';
import { mountSignInStatus } from '../sign-in/sign-in-status.ts';
import { mountSignOut } from '../sign-in/sign-out.ts';
import { identityRoute } from './identity.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { learnSessionRoute } from './learn-session.ts';
import { limitsRoute } from './limits.ts';
import { endSignInRoute, listSignInsRoute } from './sign-ins.ts';

const folder = '/console/api';

/** Ways to sign in to the console and out of it. */
export interface ConsoleSignIn {
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
