import { reservedCategory } from '@actlog/policy';
import { isReservedCategory } from '@actlog/protocol';
import { refusalError } from '../service/api-error.ts';
import type { Route, Routes } from '../service/call.ts';
import { createAgent, getAgent, listAgents, updateAgent } from './agents.ts';
import { checkPolicies } from './check.ts';
import { decidePendingAction, listPendingActions } from './guardian.ts';
import { createChannel, listChannels } from './notification-channels.ts';
import { archivePolicy, createPolicy, getPolicy, listPolicies, updatePolicy } from './policies.ts';
import { exportSession, getRisk, getSession, listAgentSessions, listSessions } from './sessions.ts';

/** `POST /v1/events`. */
const createEvent: Route<'events.create'> = ({ tenant, body, nowMs, protoKeysRemoved }) => {
  if (isReservedCategory(body.category)) throw refusalError(reservedCategory);
  return tenant.record(body, nowMs, protoKeysRemoved);
};

/** Handlers of all endpoints. */
export const routes: Routes = {
  'events.create': createEvent,
  'sessions.list': listSessions,
  'sessions.get': getSession,
  'sessions.risk': getRisk,
  'sessions.export': exportSession,
  'agents.create': createAgent,
  'agents.list': listAgents,
  'agents.get': getAgent,
  'agents.update': updateAgent,
  'agents.sessions': listAgentSessions,
  'policies.create': createPolicy,
  'policies.list': listPolicies,
  'policies.get': getPolicy,
  'policies.update': updatePolicy,
  'policies.archive': archivePolicy,
  'policies.check': checkPolicies,
  'guardian.pendingActions.list': listPendingActions,
  'guardian.pendingActions.decide': decidePendingAction,
  'notificationChannels.create': createChannel,
  'notificationChannels.list': listChannels,
};
