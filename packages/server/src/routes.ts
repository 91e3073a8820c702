import type { OwnRoute, Routes } from './http/route.ts';
import { notFound } from './lib/api-error.ts';
import {
  createAgent,
  getAgent,
  listAgentSessions,
  listAgentsRoute,
  updateAgent,
} from './resources/agents.ts';
import { checkAction } from './resources/check.ts';
import { createEvent } from './resources/events.ts';
import { decidePendingAction, listPendingActionsRoute } from './resources/guardian.ts';
import { createChannel, listChannelsRoute } from './resources/notification-channels.ts';
import {
  archivePolicy,
  createPolicy,
  getPolicy,
  listPoliciesRoute,
  updatePolicy,
} from './resources/policies.ts';
import { exportSession, getSession, listSessionsRoute } from './resources/sessions.ts';
import { readRisk } from './risk/read-risk.ts';
import type { Services } from './services.ts';

/** Creates the routes of all endpoints. */
export function createRoutes(services: Services): Routes {
  return {
    'events.create': createEvent(services),
    'sessions.list': listSessionsRoute(services),
    'sessions.get': getSession(services),
    'sessions.risk': getRisk(services),
    'sessions.export': exportSession(services),
    'agents.create': createAgent(services),
    'agents.list': listAgentsRoute(services),
    'agents.get': getAgent,
    'agents.update': updateAgent(services),
    'agents.sessions': listAgentSessions(services),
    'policies.create': createPolicy(services),
    'policies.list': listPoliciesRoute(services),
    'policies.get': getPolicy,
    'policies.update': updatePolicy(services),
    'policies.archive': archivePolicy(services),
    'policies.check': checkAction(services),
    'guardian.pendingActions.list': listPendingActionsRoute(services),
    'guardian.pendingActions.decide': decidePendingAction(services),
    'notificationChannels.create': createChannel(services),
    'notificationChannels.list': listChannelsRoute(services),
  };
}

/** Route `GET /v1/sessions/:id/risk`: the score over ten dimensions, with its factors. */
function getRisk(services: Services): OwnRoute<'sessions.risk'> {
  return {
    kind: 'own',
    async handle({ caller, params, receivedMs }) {
      const found = await readRisk(services, caller.tenantId, params.id, receivedMs);
      if (!found) throw notFound('session');
      return found.risk;
    },
  };
}
