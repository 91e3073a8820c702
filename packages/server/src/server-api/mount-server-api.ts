import type { FastifyInstance } from 'fastify';
import { unknownRouteHandler } from '../http/errors.ts';
import { mountServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import { auditRoute } from './audit.ts';
import { backtestsRoute } from './backtests.ts';
import { decideActionsRoute } from './decide-actions.ts';
import { decisionsRoute } from './decisions.ts';
import { grantsRoute, revokeGrantRoute } from './grants.ts';
import { judgmentRoutes, judgmentsRoute } from './judgments.ts';
import { overviewRoute } from './overview.ts';
import { sessionReviewRoutes } from './session-review.ts';
import { suggestionsRoute } from './suggestions.ts';
import { trialsRoute } from './trials.ts';
import { webhookChangeRoutes } from './webhook-changes.ts';
import { deliveriesRoute, webhookRoute } from './webhooks.ts';

const folder = '/server/v1';

/**
 * Mounts the endpoints that this server adds to the specification. They are for scripts, the command and the console,
 * and are not in the endpoint table or in `/openapi.json`, which describe what every service has.
 */
export async function mountServerApi(app: FastifyInstance, services: Services): Promise<void> {
  const routes = [
    decisionsRoute(services),
    backtestsRoute(services),
    trialsRoute(services),
    decideActionsRoute(services),
    grantsRoute(services),
    revokeGrantRoute(services),
    overviewRoute(services),
    auditRoute(services),
    webhookRoute(services),
    deliveriesRoute(services),
    ...webhookChangeRoutes(services),
    judgmentsRoute(services),
    ...judgmentRoutes(services),
    ...sessionReviewRoutes(services),
  ];
  const suggestions = suggestionsRoute(services);
  await app.register(
    async (api) => {
      api.setNotFoundHandler(
        unknownRouteHandler(
          [...routes, suggestions].map(({ method, path }) => ({ method, path: folder + path })),
        ),
      );
      mountServerRoute(api, services, suggestions);
      for (const route of routes) mountServerRoute(api, services, route);
    },
    { prefix: folder },
  );
}
