import type {
  AgentRecord,
  ChannelRecord,
  EventRecord,
  PendingActionRecord,
  PolicyRecord,
  SessionRecord,
} from './tenant/records.ts';
import type { Tenant } from './tenant/tenant.ts';

/** Data of the tenant of the mock's first key, in order of creation, as returned by the API. */
export interface MockState {
  readonly agents: readonly AgentRecord[];
  readonly events: readonly EventRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly policies: readonly PolicyRecord[];
  readonly pendingActions: readonly PendingActionRecord[];
  readonly notificationChannels: readonly ChannelRecord[];
}

/** Returns a copy of a tenant's data. */
export function stateOf(tenant: Tenant): MockState {
  return structuredClone({
    agents: [...tenant.agents.values()],
    events: [...tenant.events.values()],
    sessions: [...tenant.sessions.values()].map(({ record }) => record),
    policies: [...tenant.policies.values()],
    pendingActions: [...tenant.pendingActions.values()],
    notificationChannels: [...tenant.channels.values()],
  });
}
