import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { type RunningServer, startServer } from '@actlog/server';
import { interleave, type Measured } from '../measure/interleaved-rounds.ts';

/** Requests of each kind in one round. */
const requestsPerRound = 200;

/** Bodies of the endpoints with an id and a body. */
const bodies: Partial<Record<EndpointName, unknown>> = {
  'agents.update': { name: 'x' },
  'policies.update': { name: 'x' },
  'guardian.pendingActions.decide': { decision: 'approve' },
};

/** Ids of one tenant's records, by the first word of their endpoints' names. */
async function ownedIds({ url, apiKey }: RunningServer): Promise<Record<string, string>> {
  const post = async (path: string, body: unknown) => {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, string>;
  };
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
  const policy = await post('/v1/policies', { name: 'ask', effect: 'require_approval' });
  const held = await post('/v1/policies/check', {
    agentId: 'owned',
    sessionId: 'owned',
    actionId: 'a',
    action,
  });
  await post('/v1/events', {
    eventId: crypto.randomUUID(),
    agentId: 'owned',
    sessionId: 'owned',
    sourceTimestamp: new Date().toISOString(),
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: { ...action, responseStatus: 200 },
  });
  return {
    policies: policy.id ?? '',
    guardian: held.pendingActionId ?? '',
    sessions: 'owned',
    agents: 'owned',
  };
}

/**
 * Measures a request for another tenant's id against one for an unknown id. A ratio away from 1 would reveal which
 * ids exist (OWASP API1:2023).
 */
export async function measureTiming(rounds: number): Promise<Record<string, Measured>> {
  const server = await startServer({ docs: false, rateLimit: { requestsPerSecond: 1e6, burst: 1e7 } });
  try {
    const owned = await ownedIds(server);
    await server.admin.tenants.create('stranger');
    const { apiKey } = await server.admin.keys.create('stranger', { name: 'stranger' });
    const result: Record<string, Measured> = {};
    for (const name of endpointNames) {
      const { path, method } = endpoints[name];
      if (!path.includes(':id')) continue;
      const foreign = owned[name.split('.')[0] ?? ''] ?? '';
      // Same length and format; the only difference is that it exists.
      const unknown = foreign.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      const body = bodies[name];
      const askFor = (id: string) => async () => {
        const target = new URL(path.replace(':id', id), server.url);
        const startedMs = performance.now();
        for (let count = 0; count < requestsPerRound; count += 1) {
          const response = await fetch(target, {
            method,
            headers: {
              authorization: `Bearer ${apiKey}`,
              ...(body ? { 'content-type': 'application/json' } : {}),
            },
            ...(body ? { body: JSON.stringify(body) } : {}),
          });
          if (response.status !== 404) throw new Error(`${name} answered ${response.status}`);
          await response.arrayBuffer();
        }
        return ((performance.now() - startedMs) * 1000) / requestsPerRound;
      };
      result[name] = await interleave(rounds, askFor(unknown), askFor(foreign));
    }
    return result;
  } finally {
    await server.close();
  }
}
