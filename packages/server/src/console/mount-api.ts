import type { FastifyInstance } from 'fastify';
import { unknownRoutes } from '../http/errors.ts';
import type { Services } from '../services.ts';
import { mountConsoleRoute } from './console-route.ts';
import { identityRoute } from './identity.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { learnSessionRoute } from './learn-session.ts';

const folder = '/console/api';

/**
 * Mounts what the console needs beside `/v1`: who is signed in, the keys of the tenant ("They can be rotated through the
 * console", specification, "Authentication"), and that a risky session was usual work. These routes are the console's own and change with it: the
 * endpoint table and `/openapi.json` do not hold them, and no client is to rely on them.
 */
export async function mountConsoleApi(app: FastifyInstance, services: Services): Promise<void> {
  const routes = [
    identityRoute(services),
    listKeysRoute(services),
    createKeyRoute(services),
    rotateKeyRoute(services),
    revokeKeyRoute(services),
    learnSessionRoute(services),
  ];
  await app.register(
    async (api) => {
      api.setNotFoundHandler(
        unknownRoutes(routes.map(({ method, path }) => ({ method, path: folder + path }))),
      );
      for (const route of routes) mountConsoleRoute(api, services, route);
    },
    { prefix: folder },
  );
}
