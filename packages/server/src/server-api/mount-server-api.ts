import type { FastifyInstance } from 'fastify';
import { unknownRouteHandler } from '../http/errors.ts';
import { mountServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import { backtestsRoute } from './backtests.ts';
import { decisionsRoute } from './decisions.ts';
import { overviewRoute } from './overview.ts';

const folder = '/server/v1';

/**
 * Mounts the endpoints that this server adds to the specification. They are for scripts, the command and the console,
 * and are not in the endpoint table or in `/openapi.json`, which describe what every service has.
 */
export async function mountServerApi(app: FastifyInstance, services: Services): Promise<void> {
  const routes = [decisionsRoute(services), backtestsRoute(services), overviewRoute(services)];
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
