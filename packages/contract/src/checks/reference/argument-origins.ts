import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type BodyOf, limits } from '@actlog/protocol';
import { type Check, check } from '../../check.ts';
import { errorOf, isObject } from '../../http/api-response.ts';
import { fail } from '../../outcome.ts';
import { expectCode, expectStatus } from '../expectations.ts';
import { checkBody, checked, expectEqual, policyFor, sent } from './reference.ts';

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
