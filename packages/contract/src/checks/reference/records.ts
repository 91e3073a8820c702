import { createHash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type BodyOf, headers, limits } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../../check.ts';
import { describeResponse, errorOf, isObject } from '../../http/api-response.ts';
import { fail } from '../../outcome.ts';
import { expectCode, expectStatus } from '../expectations.ts';
import { checkBody, checked, expectEqual, policyFor, sent } from './reference.ts';

/** Returns the raw text of the member `events` of an export. */
function eventsText(document: string): string {
  const start = document.indexOf('"events":[') + '"events":'.length;
  const end = document.lastIndexOf('],"eventCount"') + 1;
  return document.slice(start, end);
}

/** Checks of events and sessions. */
export const referenceEventChecks: readonly Check[] = [
  ...['eventId', 'agentId', 'sessionId', 'sourceTimestamp', 'category', 'schemaVersion', 'payload'].map(
    (field) =>
      check('PRF-04', `without ${field}`, async ({ traffic }) => {
        expectStatus(await traffic.post({ ...traffic.event(), [field]: undefined }), 400);
      }),
  ),
  check('PRF-05', 'the same event twice', async (run) => {
    const sessionId = run.newName('twice');
    const body = run.traffic.event({ sessionId });
    const first = await sent(run, 'events.create', { body });
    const second = await sent(run, 'events.create', { body });
    expectEqual(second.receivedAt, first.receivedAt, 'the second receivedAt');
    const eventId = body.eventId.toUpperCase();
    const spelled = await sent(run, 'events.create', { body: { ...body, eventId } });
    expectEqual(spelled.eventId, eventId, 'the eventId of the acknowledgement');
    expectEqual(spelled.receivedAt, first.receivedAt, 'the receivedAt of the id in upper case');
    expectEqual((await sent(run, 'sessions.get', { id: sessionId })).eventCount, 1, 'eventCount');
  }),
  check('PRF-06', 'another event with the same eventId', async (run) => {
    const sessionId = run.newName('reused');
    const body = run.traffic.event({ sessionId });
    await sent(run, 'events.create', { body });
    const { warnings } = await sent(run, 'events.create', { body: { ...body, category: 'contract_other' } });
    if (!warnings.some(({ code }) => code === 'EVENT_ID_REUSED'))
      fail('the warning EVENT_ID_REUSED is missing');
    const { events } = await sent(run, 'sessions.get', { id: sessionId });
    expectEqual(
      events.map(({ category }) => category),
      [body.category],
      'the stored categories',
    );
  }),
  check('PRF-07', 'warnings of a registered and of an unknown agent', async (run) => {
    const { id } = await run.records.identified('agents', 5);
    const clean = run.traffic.event({ agentId: id, sessionId: run.newName('clean') });
    expectEqual((await sent(run, 'events.create', { body: clean })).warnings, [], 'warnings');
    const agentId = run.newName('unregistered');
    const unknown = run.traffic.event({ agentId, sessionId: agentId });
    const { warnings } = await sent(run, 'events.create', { body: unknown });
    expectEqual(
      warnings.map(({ code }) => code),
      ['AGENT_NOT_REGISTERED'],
      'the codes of warnings',
    );
  }),
  check('PRF-08', 'an unregistered agent that sent an event', async (run) => {
    const agentId = run.newName('unregistered');
    await sent(run, 'events.create', { body: run.traffic.event({ agentId, sessionId: agentId }) });
    expectEqual((await sent(run, 'agents.get', { id: agentId })).registered, false, 'registered');
  }),
  check('PRF-09', 'a custom category and the reserved one', async ({ traffic }) => {
    expectStatus(await traffic.post(traffic.event({ category: 'contract_own', payload: { any: [1] } })), 202);
    for (const category of ['guardian_decision', 'Guardian_decision\u00a0']) {
      expectCode(await traffic.post(traffic.event({ category, payload: {} })), 'VALIDATION_ERROR');
    }
  }),
  check('PRF-14', 'the counters of a session', async (run) => {
    const sessionId = run.newName('counted');
    const agentId = run.newName('counted-agent');
    const tools = ['b_tool', 'a_tool', 'b_tool'];
    const ids: string[] = [];
    for (const [index, toolName] of tools.entries()) {
      const body = run.traffic.event({
        sessionId,
        agentId,
        sourceTimestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
        payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: index === 0 ? 500 : 200 },
      });
      ids.push((await sent(run, 'events.create', { body })).eventId);
    }
    const session = await sent(run, 'sessions.get', { id: sessionId, query: { limit: 2 } });
    expectEqual([session.eventCount, session.errorCount], [3, 1], 'eventCount and errorCount');
    expectEqual(session.toolNames, ['b_tool', 'a_tool'], 'toolNames');
    expectEqual(session.agentIds, [agentId], 'agentIds');
    const rest = await sent(run, 'sessions.get', {
      id: sessionId,
      query: { limit: 2, cursor: session.nextCursor ?? '' },
    });
    expectEqual(
      [...session.events, ...rest.events].map(({ eventId }) => eventId),
      ids,
      'the order of events',
    );
    expectEqual(rest.nextCursor, null, 'nextCursor of the last page');
  }),
  check('PRF-15', 'contentSha256', async (run) => {
    const { main } = await run.traffic.settled();
    const { text } = await run.probe.call('sessions.export', { id: main.id });
    const document = JSON.parse(text) as { contentSha256?: string; eventCount?: number };
    const hash = createHash('sha256').update(eventsText(text)).digest('hex');
    expectEqual(document.contentSha256, hash, 'contentSha256');
    expectEqual(document.eventCount, main.events.length, 'eventCount');
  }),
  check('PRF-26', 'a body that is too large, and one that is too deep', async ({ traffic }) => {
    const large = { text: 'a'.repeat(limits.maxBodyBytes) };
    expectStatus(await traffic.post(traffic.event({ category: 'contract_large', payload: large })), 413);
    let deep: object = {};
    for (let level = 0; level <= limits.maxJsonDepth; level += 1) deep = { deep };
    expectStatus(await traffic.post(traffic.event({ category: 'contract_deep', payload: { deep } })), 400);
  }),
];

type Origins = NonNullable<BodyOf<'policies.check'>['action']['origins']>;

const fromText = { from: 'tool', as: 'text', toolName: 'contract_read', eventId: randomUUID() } as const;

function action(origins: unknown) {
  const named = { toolName: 'contract_probe', argumentsHash: 'sha256:aa' };
  return { ...named, ...(origins !== undefined && { origins: origins as Origins }) };
}

/** Fails unless two values are equal as JSON, whatever the order of their members. */
function expectSame(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected)) expectEqual(found, expected, what);
}

/** Invalid origins, and the start of the path that the error names. */
const invalid: readonly (readonly [what: string, origins: object, path: string])[] = [
  ['an unknown source', { recipient: { from: 'contract_unknown' } }, 'action.origins.recipient'],
  [
    'a form of a value from the user',
    { recipient: { from: 'user', as: 'text' } },
    'action.origins.recipient',
  ],
  [
    'too many paths',
    Object.fromEntries(
      Array.from({ length: limits.maxArgumentOrigins + 1 }, (_, index) => [`path${index}`, { from: 'user' }]),
    ),
    'action.origins',
  ],
];

/** Checks of the origins of arguments. */
export const argumentOriginChecks: readonly Check[] = [
  check('PRF-30', 'a condition on the origin of an argument', async (run) => {
    const agentId = run.newName('traced');
    const condition = 'origins.recipient.from == "tool" && origins.any("tool", "text")';
    await policyFor(run, agentId, { effect: 'require_approval', condition });
    const cases = [
      ['an argument from the user', { recipient: { from: 'user' } }, 'allow'],
      ['an argument from a text that a tool returned', { recipient: fromText }, 'require_approval'],
      ['no origins', undefined, 'require_approval'],
    ] as const;
    for (const [what, origins, decision] of cases) {
      const body = { agentId, actionId: run.newName('action'), action: action(origins) };
      expectEqual((await checked(run, body)).decision, decision, `with ${what}, the decision`);
    }
    const { items } = await sent(run, 'guardian.pendingActions.list', { query: { agentId } });
    const held = items.map((item) => item.action.origins).filter((one) => one !== undefined);
    expectSame(held, [{ recipient: fromText }], 'the origins of the held actions');
  }),
  ...invalid.map(([what, origins, path]) =>
    check('PRF-30', `origins with ${what}`, async (run) => {
      const body = checkBody({ agentId: run.newName('traced'), action: action(origins) });
      const response = await run.probe.call('policies.check', { body });
      expectCode(response, 'VALIDATION_ERROR');
      const details: unknown = errorOf(response)?.details;
      const paths = Array.isArray(details)
        ? details.map((one) => (isObject(one) ? String(one.path) : ''))
        : [];
      if (!paths.some((one) => one.startsWith(path)))
        fail(`the error names ${JSON.stringify(paths)}; expected ${path}`);
    }),
  ),
  check('PRF-31', 'an event of argument origins', async (run) => {
    const payload = { eventId: randomUUID(), toolName: 'contract_probe', origins: { recipient: fromText } };
    const sessionId = run.newName('traced-session');
    const body = run.traffic.event({ sessionId, category: 'argument_origins', payload });
    const { warnings } = await sent(run, 'events.create', { body });
    if (warnings.some(({ code }) => code === 'UNKNOWN_CATEGORY'))
      fail('the event has the warning UNKNOWN_CATEGORY');
    const { events } = await sent(run, 'sessions.get', { id: sessionId });
    expectSame(events.at(0)?.payload, payload, 'the stored payload');
  }),
  check('PRF-31', 'a tool call with origins', async ({ traffic }) => {
    const { payload } = traffic.event();
    const origins = { recipient: fromText };
    expectStatus(await traffic.post(traffic.event({ payload: { ...payload, origins } })), 400);
  }),
];

/** Checks of agents, policies, webhooks and errors. */
export const referenceRecordChecks: readonly Check[] = [
  check('PRF-16', 'a chosen id', async (run) => {
    const id = run.newName('chosen');
    const body = { id, name: id, metadata: { kept: 1, dropped: 2 }, owner: 'somebody' };
    expectEqual((await run.records.make('agents', () => body)).id, id, 'the id');
    expectCode(await run.probe.call('agents.create', { body }), 'ALREADY_EXISTS');
    const patch = { owner: null, metadata: { dropped: null, added: 3 } };
    const { owner, name, metadata } = await sent(run, 'agents.update', { id, body: patch });
    expectEqual([owner, name, metadata], [null, id, { kept: 1, added: 3 }], 'owner, name and metadata');
  }),
  check('PRF-17', 'an archived policy', async (run) => {
    const { id } = await policyFor(run, run.newName('agent'));
    const first = await sent(run, 'policies.archive', { id });
    expectEqual(first.status, 'archived', 'status');
    expectEqual(await sent(run, 'policies.archive', { id }), first, 'the response to archiving again');
    expectCode(await run.probe.call('policies.update', { id, body: { message: 'm' } }), 'POLICY_ARCHIVED');
  }),
  check('PRF-18', 'a truncated condition', async (run) => {
    const body = { name: run.newName('policy'), effect: 'allow', condition: 'action.toolName ==' };
    expectCode(await run.probe.call('policies.create', { body }), 'VALIDATION_ERROR');
  }),
  check('PRF-22', 'the secret and the address', async (run) => {
    const made = await run.records.made('notificationChannels');
    if (!/"secret":"whsec_/.test(made.response.text)) fail('the response of a creation contains no secret');
    const list = await run.probe.call('notificationChannels.list');
    if (/whsec_|"secret"/.test(list.text)) fail('the list contains secrets');
    for (const url of ['http://127.0.0.1/', 'http://10.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/']) {
      expectCode(await run.probe.call('notificationChannels.create', { body: { url } }), 'VALIDATION_ERROR');
    }
  }),
  check('PRF-23', 'statuses of errors', async ({ probe }) => {
    const notAllowed = await probe.send('DELETE', '/v1/events');
    expectCode(notAllowed, 'METHOD_NOT_ALLOWED');
    expectStatus(notAllowed, 405);
    if (!notAllowed.headers.get('allow')?.includes('POST')) fail('405 does not name POST in Allow');
    expectStatus(await probe.send('GET', '/v1/contract-nothing'), 404);
    const text = await probe.call('events.create', {
      rawBody: 'a',
      headers: { 'content-type': 'text/plain' },
    });
    expectCode(text, 'UNSUPPORTED_MEDIA_TYPE');
    expectStatus(text, 415);
    expectStatus(await probe.call('events.create', { rawBody: '{' }), 400);
  }),
  check('PRF-24', 'a session, an agent and a policy', async (run) => {
    const key = run.secondTenantKey();
    const { main } = await run.traffic.settled();
    const cases = [
      ['sessions.get', main.id],
      ['agents.get', (await run.records.identified('agents', 2)).id],
      ['policies.get', (await run.records.identified('policies', 2)).id],
    ] as const;
    for (const [name, id] of cases) {
      const foreign = await run.probe.call(name, { id, key });
      const unknown = await run.probe.call(name, { id: `${run.prefix}-nothing`, key });
      expectEqual([foreign.status, foreign.text], [unknown.status, unknown.text], describeResponse(foreign));
    }
  }),
  check('PRF-27', 'an agent created twice with one key', async (run) => {
    const key = { [headers.idempotencyKey]: run.newName('idempotency') };
    const body = { name: run.newName('once') };
    const first = await sent(run, 'agents.create', { body, headers: key });
    run.records.counts.agents += 1;
    expectEqual(await sent(run, 'agents.create', { body, headers: key }), first, 'the second response');
    const other = { name: run.newName('other') };
    expectCode(
      await run.probe.call('agents.create', { body: other, headers: key }),
      'IDEMPOTENCY_KEY_REUSED',
    );
  }),
  ...['/healthz', '/readyz', '/openapi.json'].map((path) =>
    safeCheck('PRF-28', `GET ${path}`, async ({ probe }) => {
      expectStatus(await probe.send('GET', path, { key: null }), 200);
    }),
  ),
];
