import { NestedServer } from '@actlog/foreign-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bodies, type ContractReport, runContract } from '../src/index.ts';

const [apiKey, secondTenantKey] = ['al_test_nested_a', 'al_test_nested_b'];

/** Bodies that the service requires. */
const bodies: Bodies = {
  'agents.create': { label: '{name}' },
  'agents.update': { label: '{name}' },
  'policies.create': { words: '{name}' },
  'policies.update': { words: '{name}' },
  'policies.check': { subject: '{agentId}', run: { named: '{name}' } },
  'policies.hold': { words: '{name}', pause: '{agentId}' },
  'guardian.pendingActions.decide': { yes: false },
  'notificationChannels.create': { to: 'https://{prefix}.invalid/{name}' },
};

let server: NestedServer;

beforeAll(async () => {
  server = await NestedServer.start([apiKey, secondTenantKey]);
});

afterAll(() => server.close());

function run(options = {}): Promise<ContractReport> {
  const clock = { sleep: async () => {} };
  return runContract({ baseURL: server.url, apiKey, secondTenantKey, bodies, clock, ...options });
}

function checksWith({ requirements }: ContractReport, status: string): string[] {
  return requirements.flatMap(({ id, checks }) =>
    checks.filter((check) => check.status === status).map(({ name, detail }) => `${id} ${name}: ${detail}`),
  );
}

it('passes a service with numbers as identifiers, nested records, late data and many 429s', async () => {
  const report = await run();
  expect(checksWith(report, 'failed').filter((text) => !text.startsWith('ERR-05'))).toEqual([]);
  expect(report.ok).toBe(true);
  const skipped = checksWith(report, 'skipped').filter(
    (text) => !/^(END-10 lists no session of an agent that is named alike|AUT-04|LIM-01)/.test(text),
  );
  expect(skipped).toEqual([]);
});

it('identifies and decides a held action that names its agent before itself', async () => {
  const { requirements } = await run({ only: ['END-18', 'ERR-10'] });
  expect(requirements.map(({ id, status }) => `${id} ${status}`)).toEqual(['END-18 passed', 'ERR-10 passed']);
});

it('skips what needs a registered agent if the body for one is unknown', async () => {
  const report = await run({ bodies: {} });
  expect(checksWith(report, 'failed').filter((text) => !text.startsWith('ERR-05'))).toEqual([]);
  expect(report).toMatchObject({
    ok: false,
    uncheckedEndpoints: expect.arrayContaining(['POST /v1/agents']),
  });
  const [first] = report.requirements.find(({ id }) => id === 'END-01')?.checks ?? [];
  expect(first).toMatchObject({ status: 'skipped', detail: expect.stringContaining('--bodies') });
});
