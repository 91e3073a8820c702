import { headers } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../../check.ts';
import { describeResponse } from '../../http/api-response.ts';
import { fail } from '../../outcome.ts';
import { expectCode, expectStatus } from '../expectations.ts';
import { expectEqual, policyFor, sent } from './reference.ts';

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
