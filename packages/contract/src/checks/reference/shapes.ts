import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { contract } from '@actlog/protocol/schemas';
import { type Check, check, lastCheck } from '../../check.ts';
import { type Answer, isObject, told } from '../../http/answer.ts';
import { fail } from '../../outcome.ts';
import type { Run } from '../../run.ts';
import { expectStatus } from '../expectations.ts';

/** A request to each endpoint that succeeds. */
async function successOf(run: Run, name: EndpointName): Promise<Answer> {
  const { probe, records, traffic, guardian } = run;
  switch (name) {
    case 'events.create':
      return traffic.post(traffic.event());
    case 'sessions.get':
    case 'sessions.risk':
    case 'sessions.export':
      return probe.call(name, { id: (await traffic.settled()).main.id });
    case 'agents.sessions':
      return probe.call(name, { id: (await traffic.settled()).main.agentId });
    case 'agents.create':
    case 'notificationChannels.create':
      return (await records.made(name === 'agents.create' ? 'agents' : 'notificationChannels')).answer;
    case 'policies.create':
      return (await records.made('policies')).answer;
    case 'agents.get':
    case 'agents.update':
      return probe.call(name, {
        id: (await records.identified('agents')).id,
        ...(name === 'agents.update' && { body: { owner: 'contract' } }),
      });
    case 'policies.get':
    case 'policies.update':
    case 'policies.archive':
      return probe.call(name, {
        id: (await records.identified('policies', name === 'policies.archive' ? 3 : 1)).id,
        ...(name === 'policies.update' && { body: { message: 'contract' } }),
      });
    case 'policies.check':
      return guardian.check(run.newName('agent'));
    case 'guardian.pendingActions.decide':
      return guardian.decide((await guardian.held()).id);
    case 'guardian.pendingActions.list':
      await guardian.held();
      return probe.call(name);
    default:
      await traffic.settled();
      return probe.call(name);
  }
}

/** Ids that the service makes, and where one is found. */
const prefixes: readonly (readonly [
  what: string,
  prefix: string,
  id: (run: Run) => Promise<string | undefined>,
])[] = [
  ['an agent', 'agt_', async ({ records }) => (await records.identified('agents')).id],
  ['a policy', 'pol_', async ({ records }) => (await records.identified('policies')).id],
  ['a webhook', 'nch_', async ({ records }) => (await records.made('notificationChannels')).id],
  ['a held action', 'pac_', async ({ guardian }) => (await guardian.held()).id],
];

/** Bodies with a field that nobody knows. */
const withUnknown = [
  'agents.create',
  'policies.create',
  'policies.check',
  'notificationChannels.create',
] as const;

/** What answers look like. */
export const shapeChecks: readonly Check[] = [
  ...endpointNames.map((name) =>
    check('PRF-01', `${endpoints[name].method} ${endpoints[name].path}`, async (run) => {
      const answer = await successOf(run, name);
      expectStatus(answer, endpoints[name].success);
      const { error } = contract[name].response.sent.safeParse(answer.json);
      const [issue] = error?.issues ?? [];
      if (issue)
        fail(`${answer.method} ${answer.path}: ${issue.path.join('.') || 'the answer'}: ${issue.message}`);
    }),
  ),
  ...prefixes.map(([what, prefix, id]) =>
    check('PRF-02', what, async (run) => {
      const found = await id(run);
      if (!new RegExp(`^${prefix}[0-9a-f]{12}7[0-9a-f]{19}$`).test(found ?? '')) fail(`the id is ${found}`);
    }),
  ),
  ...withUnknown.map((name) =>
    check('PRF-03', `${endpoints[name].method} ${endpoints[name].path}`, async (run) => {
      const values = { name: run.newName('unknown'), agentId: run.newName('agent'), sessionId: run.prefix };
      const body = run.records.body(name, values);
      const answer = await run.probe.call(name, { body: { ...(isObject(body) && body), unheardOf: 1 } });
      expectStatus(answer, 400);
    }),
  ),
  check('PRF-03', 'POST /v1/events', async ({ traffic }) => {
    expectStatus(await traffic.post({ ...traffic.event(), unheardOf: 1 }), 400);
  }),
  lastCheck('PRF-25', 'every answer of the run', async ({ probe }) => {
    const without = probe.answers.find(({ headers }) => !headers.get('x-request-id'));
    if (without) fail(`${told(without)}, without x-request-id`);
  }),
];
