import { randomUUID } from 'node:crypto';
import { type Document, documents, events, type Mutant, refusal, requests, responses } from './mutant.ts';
import { archivesOnce, forbidsForeign, freshTime, turnsDecisions } from './reference-faults.ts';

const session = (change: (document: Document) => unknown) => documents('GET /v1/sessions/:id', change);

const faults: readonly (readonly [name: string, caughtBy: readonly string[], fault: Mutant['fault']])[] = [
  [
    'a field beside the profile',
    ['PRF-01'],
    documents('POST /v1/policies/check', (it) => {
      it.extra = 1;
    }),
  ],
  [
    '200 for a creation',
    ['PRF-01'],
    responses('POST /v1/notification-channels', (it) => {
      it.status = 200;
    }),
  ],
  [
    'ids without prefix',
    ['PRF-02'],
    documents('POST /v1/notification-channels', (it) => {
      it.id = randomUUID();
    }),
  ],
  [
    'unknown fields taken',
    ['PRF-03'],
    requests('POST /v1/agents', (passing) => {
      passing.body = passing.body.replace(',"unheardOf":1', '');
    }),
  ],
  [
    'a schemaVersion by default',
    ['PRF-04'],
    events((it) => {
      it.schemaVersion ??= '1.0';
    }),
  ],
  [
    'another receivedAt for the same event',
    ['PRF-05'],
    documents('POST /v1/events', (it) => {
      it.receivedAt = freshTime();
    }),
  ],
  [
    'a reused eventId goes unnoticed',
    ['PRF-06'],
    documents('POST /v1/events', (it) => {
      it.warnings = it.warnings.filter(({ code }: Document) => code !== 'EVENT_ID_REUSED');
    }),
  ],
  [
    'a warning about nothing',
    ['PRF-07', 'PRF-31'],
    documents('POST /v1/events', (it) => void it.warnings.push({ code: 'UNKNOWN_CATEGORY', message: 'm' })),
  ],
  [
    'limit=0 taken',
    ['PRF-10'],
    requests('GET /v1/policies', ({ query }) => {
      if (query.get('limit') === '0') query.delete('limit');
    }),
  ],
  ['the oldest first', ['PRF-11'], documents('GET /v1/agents/:id/sessions', (it) => void it.items.reverse())],
  ['filters ignored', ['PRF-13'], requests('GET /v1/sessions', ({ query }) => query.delete('startedAfter'))],
  [
    'events miscounted',
    ['PRF-05', 'PRF-14'],
    session((it) => {
      it.eventCount += 1;
    }),
  ],
  [
    'a hash of something else',
    ['PRF-15'],
    documents('GET /v1/sessions/:id/export.json', (it) => {
      it.contentSha256 = '0'.repeat(64);
    }),
  ],
  [
    'null kept by a merge patch',
    ['PRF-16'],
    documents('PATCH /v1/agents/:id', (it) => {
      it.owner ??= 'somebody';
    }),
  ],
  [
    'a category that only the service may write is taken',
    ['PRF-09'],
    events((it) => {
      it.category = it.category === 'guardian_decision' ? 'other' : it.category;
    }),
  ],
  [
    'any cursor is taken',
    ['PRF-12'],
    () => ({
      response: (it, passing) => {
        if (it.status !== 400 || !passing.query.has('cursor')) return;
        Object.assign(it, { status: 200, body: '{"items":[],"nextCursor":null}' });
      },
    }),
  ],
  [
    'a condition is not looked at',
    ['PRF-18'],
    requests('POST /v1/policies', (passing) => {
      passing.body = passing.body.replace('action.toolName ==', 'true');
    }),
  ],
  [
    'secrets are listed',
    ['PRF-01', 'PRF-22'],
    documents('GET /v1/notification-channels', (it) => {
      for (const channel of it.items) channel.secret = 'whsec_c2VjcmV0';
    }),
  ],
  [
    '400 for a body that is too large',
    ['PRF-26'],
    () => ({
      response: (it) => {
        if (it.status === 413) it.status = 400;
      },
    }),
  ],
  ['archived only once', ['PRF-17'], archivesOnce],
  [
    'allow goes before all',
    ['PRF-19'],
    documents('POST /v1/policies/check', (it) => {
      it.decision =
        it.decision === 'deny' && it.pendingActionId === null && it.matched.length > 2
          ? 'allow'
          : it.decision;
    }),
  ],
  [
    'another action under the same id',
    ['PRF-20'],
    requests('POST /v1/policies/check', (it) => {
      it.body = it.body.replace('sha256:bb', 'sha256:aa');
    }),
  ],
  ['a decision can be turned', ['PRF-21'], turnsDecisions],
  [
    'a dry run that holds the action',
    ['PRF-29'],
    () => ({
      request: ({ headers }) => {
        if (headers.prefer === 'dry-run') headers.prefer = 'holds';
        return undefined;
      },
      response: (it, { headers }) => {
        if (headers.prefer === 'holds') it.headers['preference-applied'] = 'dry-run';
      },
    }),
  ],
  [
    'every origin counts as one of the user',
    ['PRF-30'],
    requests('POST /v1/policies/check', (it) => {
      it.body = it.body.replace(/"from":"tool".*?"}/, '"from":"user"}');
    }),
  ],
  [
    'an unknown origin is taken',
    ['PRF-30'],
    requests('POST /v1/policies/check', (it) => {
      it.body = it.body.replace('"from":"contract_unknown"', '"from":"unknown"');
    }),
  ],
  [
    'a held action without its origins',
    ['PRF-30'],
    documents('GET /v1/guardian/pending-actions', (it) => {
      for (const held of it.items) delete held.action.origins;
    }),
  ],
  [
    'one approver is enough for two',
    ['PRF-32'],
    requests('POST /v1/policies', (it) => {
      it.body = it.body.replace('"requiredApprovers":2', '"requiredApprovers":1');
    }),
  ],
  [
    'a grant is for every action of the tool',
    ['PRF-33'],
    requests('POST /v1/guardian/pending-actions/:id/decide', (it) => {
      it.body = it.body.replace('"for":"action"', '"for":"tool"');
    }),
  ],
  [
    'a grant is ignored',
    ['PRF-33'],
    requests('POST /v1/guardian/pending-actions/:id/decide', (it) => {
      it.body = it.body.replace(/,"grant":\{.*?\}/, '');
    }),
  ],
  [
    'requested arguments run after an approval of changed ones',
    ['PRF-35'],
    documents('POST /v1/policies/check', (it) => {
      if (it.changedArguments != null) it.decision = 'allow';
    }),
  ],
  [
    'an approver changes arguments beyond the policy',
    ['PRF-35'],
    requests('POST /v1/guardian/pending-actions/:id/decide', (it) => {
      it.body = it.body.replace('"amount":501', '"amount":500');
    }),
  ],
  [
    'arguments are changed for a caller that cannot run them',
    ['PRF-35'],
    requests('POST /v1/policies/check', (it) => {
      if (!it.body.includes('acceptsChanges'))
        it.body = it.body.replace('"action":{', '"action":{"acceptsChanges":true,');
    }),
  ],
  [
    'a caller holds nothing without a policy',
    ['PRF-36'],
    requests('POST /v1/policies/check', (it) => {
      it.body = it.body.replace(/,?"holdSeconds":\d+/, '');
    }),
  ],
  [
    'a policy applies at all times',
    ['PRF-34'],
    requests('POST /v1/policies', (it) => {
      it.body = it.body.replace(/,"schedule":\{.*?\}/, '');
    }),
  ],
  [
    'events of argument origins are unknown',
    ['PRF-31'],
    documents('POST /v1/events', (it, { body }) => {
      const isOfOrigins = body.includes('"category":"argument_origins"');
      if (isOfOrigins) it.warnings.push({ code: 'UNKNOWN_CATEGORY', message: 'm' });
    }),
  ],
  [
    'a tool call with a fourth field is taken',
    ['PRF-31'],
    events((it) => {
      if (it.category === 'tool_api') delete it.payload.origins;
    }),
  ],
  ['405 without Allow', ['PRF-23'], () => ({ response: (it) => void delete it.headers.allow })],
  ["403 for another tenant's id", ['PRF-24'], forbidsForeign],
  ['no x-request-id', ['PRF-25'], () => ({ response: (it) => void delete it.headers['x-request-id'] })],
  [
    'no Idempotency-Key',
    ['PRF-27'],
    requests('POST /v1/agents', ({ headers }) => void delete headers['idempotency-key']),
  ],
  [
    'no health',
    ['PRF-28'],
    () => ({ request: ({ path }) => (path === '/healthz' ? refusal(404, 'NOT_FOUND') : undefined) }),
  ],
];

/** Faults of the reference profile's additions. */
export const referenceMutants: readonly Mutant[] = faults.map(([name, caughtBy, fault]) => ({
  name,
  caughtBy,
  fault,
  options: { capabilities: ['reference-profile'], only: neighborsOf(caughtBy) },
}));

/** Returns the requirements of the profile whose numbers start alike, and those that must detect the fault. */
function neighborsOf(ids: readonly string[]): string[] {
  return ids.map((id) => id.slice(0, -1));
}
