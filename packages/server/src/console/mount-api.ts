import type { FastifyInstance } from 'fastify';
import { unknownRouteHandler } from '../http/errors.ts';
import { mountServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import { identityRoute } from './identity.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { learnSessionRoute } from './learn-session.ts';
import { limitsRoute } from './limits.ts';

const folder = '/console/api';

/**
 * Mounts the routes that the console needs besides `/v1`: the identity and limits of the caller, the keys of the tenant ("They can
 * be rotated through the console", specification, "Authentication"), and the confirmation of sessions. They are private
 * to the console and change with it, so they are not in the endpoint table or in `/openapi.json`.
 */
export async function mountConsoleApi(app: FastifyInstance, services: Services): Promise<void> {
  const routes = [
    identityRoute(services),
    limitsRoute(services),
    listKeysRoute(services),
    createKeyRoute(services),
    rotateKeyRoute(services),
    revokeKeyRoute(services),
    learnSessionRoute(services),
  ];
  await app.register(
    async (api) => {
      api.setNotFoundHandler(
        unknownRouteHandler(routes.map(({ method, path }) => ({ method, path: folder + path }))),
      );
      for (const route of routes) mountServerRoute(api, services, route);
    },
    { prefix: folder },
  );
}
