import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { contract } from '@actlog/protocol/schemas';
import { type Check, check, lastCheck } from '../../check.ts';
import { type ApiResponse, describeResponse, isObject } from '../../http/api-response.ts';
import { fail } from '../../outcome.ts';
import type { Run } from '../../run.ts';
import { expectStatus } from '../expectations.ts';

/** Sends a successful request to an endpoint. */
async function successOf(run: Run, name: EndpointName): Promise<ApiResponse> {
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
      return (await records.made(name === 'agents.create' ? 'agents' : 'notificationChannels')).response;
    case 'policies.create':
      return (await records.made('policies')).response;
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
        id: (await records.identified('policies', name === 'policies.archive' ? 5 : 1)).id,
        ...(name === 'policies.update' && { body: { message: 'contract' } }),
      });
    case 'policies.check':
      return guardian.check(traffic.probeAgentId);
    case 'guardian.pendingActions.decide':
      return guardian.decide((await guardian.identified()).id);
    case 'guardian.pendingActions.list':
      await guardian.held();
      return probe.call(name);
    default:
      await traffic.settled();
      return probe.call(name);
  }
}

/** Id prefixes of records that the service creates, with a function that returns such an id. */
const prefixes: readonly (readonly [
  what: string,
  prefix: string,
  id: (run: Run) => Promise<string | undefined>,
])[] = [
  ['an agent', 'agt_', async ({ records }) => (await records.identified('agents')).id],
  ['a policy', 'pol_', async ({ records }) => (await records.identified('policies')).id],
  ['a webhook', 'nch_', async ({ records }) => (await records.made('notificationChannels')).id],
  ['a held action', 'pac_', async ({ guardian }) => (await guardian.identified()).id],
];

/** Bodies with an unknown field. */
const withUnknown = [
  'agents.create',
  'policies.create',
  'policies.check',
  'notificationChannels.create',
] as const;

/** Checks of response shapes. */
export const shapeChecks: readonly Check[] = [
  ...endpointNames.map((name) =>
    check('PRF-01', `${endpoints[name].method} ${endpoints[name].path}`, async (run) => {
      const response = await successOf(run, name);
      expectStatus(response, endpoints[name].success);
      const { error } = contract[name].response.sent.safeParse(response.json);
      const [issue] = error?.issues ?? [];
      if (issue)
        fail(
          `${response.method} ${response.path}: ${issue.path.join('.') || 'the response'}: ${issue.message}`,
        );
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
      const response = await run.probe.call(name, { body: { ...(isObject(body) && body), unheardOf: 1 } });
      expectStatus(response, 400);
    }),
  ),
  check('PRF-03', 'POST /v1/events', async ({ traffic }) => {
    expectStatus(await traffic.post({ ...traffic.event(), unheardOf: 1 }), 400);
  }),
  lastCheck('PRF-25', 'every response of the run', async ({ probe }) => {
    const without = probe.responses.find(({ headers }) => !headers.get('x-request-id'));
    if (without) fail(`${describeResponse(without)}, without x-request-id`);
  }),
];
