import { get, patch, post, type Step } from './step.ts';

/** Minute of a session's events; recent, so that no event counts as old. */
const startMs = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;

/** Returns an event of session `one`; `also` replaces fields. */
export function event(
  eventId: string | undefined,
  minute: number,
  toolName: string,
  also: object = {},
): object {
  return {
    eventId,
    agentId: 'bot',
    sessionId: 'one',
    sourceTimestamp: new Date(startMs + minute * 60_000).toISOString(),
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: { toolName, argumentsHash: `sha256:${toolName}`, responseStatus: 200 },
    ...also,
  };
}

/** Returns requests about agents. */
export function agents(): Step[] {
  return [
    post('/v1/agents', { id: 'bot', name: 'Bot', metadata: { a: 1, b: { c: 2 } } }),
    post('/v1/agents', { id: 'bot', name: 'Again' }),
    post('/v1/agents', { name: 'Made', owner: null }, { made: 'id' }),
    get('/v1/agents/$made'),
    get('/v1/agents/nobody'),
    patch('/v1/agents/bot', { metadata: { a: null, b: { d: 3 } }, version: '2' }),
    patch('/v1/agents/bot', { metadata: null }),
    patch('/v1/agents/bot', {}),
    patch('/v1/agents/bot', { id: 'other' }),
    patch('/v1/agents/$made', { status: 'revoked' }),
    get('/v1/agents?status=revoked'),
    get('/v1/agents/bot/sessions'),
    get('/v1/agents/nobody/sessions'),
  ];
}

/** Returns requests about events and sessions. */
export function sessions(ids: readonly string[]): Step[] {
  const again = event(ids[0], 0, 'read_inbox');
  return [
    post('/v1/events', again),
    post('/v1/events', again),
    post('/v1/events', { ...again, eventId: String(ids[0]).toUpperCase() }),
    post('/v1/events', event(ids[0], 0, 'web_fetch')),
    post('/v1/events', event(ids[1], 2, 'web_fetch')),
    post('/v1/events', event(ids[2], 1, 'delete_file')),
    post('/v1/events', event(ids[3], -1, 'send_email', { agentId: 'stranger' })),
    post(
      '/v1/events',
      event(ids[4], 9, 'x', { category: 'note', schemaVersion: '2.0', payload: { b: 1, a: [2] } }),
    ),
    post(
      '/v1/events',
      event(ids[4], 9, 'x', { category: 'note', schemaVersion: '2.0', payload: { a: [2], b: 1 } }),
    ),
    post(
      '/v1/events',
      event(ids[5], 0, 'late', { sessionId: 'two', sourceTimestamp: '2020-01-01T00:00:00Z' }),
    ),
    post('/v1/events', event(ids[6], 200, 'early', { sessionId: 'two' })),
    post('/v1/events', event(ids[7], 3, 'x', { category: 'guardian_decision' })),
    post(
      '/v1/events',
      event(ids[9], 5, 'x', {
        category: 'argument_origins',
        payload: { eventId: ids[2], toolName: 'delete_file', origins: { path: { from: 'model' } } },
      }),
    ),
    post('/v1/events', event(ids[7], 3, 'x', { category: 'Guardian\u200b_decision\u00a0' })),
    patch('/v1/agents/stranger', { status: 'revoked' }),
    post('/v1/events', event(ids[8], 4, 'send_email', { agentId: 'stranger', sessionId: 'three' })),
    post('/v1/events', event('no-uuid', 3, 'x', { payload: { toolName: 1, extra: true } })),
    post('/v1/events', {}),
    get('/v1/sessions'),
    get('/v1/sessions?limit=1', { cursor: 'nextCursor' }),
    get('/v1/sessions?limit=1&cursor=$cursor'),
    get('/v1/sessions?limit=1&agentId=bot&cursor=$cursor'),
    get(`/v1/sessions?startedAfter=${new Date(startMs - 120_000).toISOString()}&agentId=stranger`),
    get('/v1/sessions?minRiskScore=1'),
    get('/v1/sessions?sort=riskScore'),
    get('/v1/sessions?sort=riskScore&limit=1', { risky: 'nextCursor' }),
    get('/v1/sessions?sort=riskScore&limit=1&cursor=$risky'),
    get('/v1/sessions?toolName=send_email'),
    get('/v1/sessions?level=low&idContains=O'),
    get('/v1/sessions?status=errors'),
    get('/v1/sessions?status=denied'),
    get('/v1/sessions?status=held&agentIdContains=BO'),
    get('/v1/sessions?status=failed&level=severe'),
    get('/v1/agents/stranger/sessions?toolName=send_email&sort=riskScore'),
    get('/v1/sessions/one'),
    get('/v1/sessions/one?limit=2', { more: 'nextCursor' }),
    get('/v1/sessions/one?limit=2&cursor=$more'),
    get('/v1/sessions/one/risk'),
    get('/v1/sessions/one/export.json'),
    get('/v1/agents/stranger'),
    get('/v1/agents/stranger/sessions'),
    post('/v1/agents', { id: 'stranger', name: 'Known now' }),
  ];
}
