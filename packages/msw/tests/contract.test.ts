import { type ContractReport, runContract } from '@actlog/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HttpListener } from './http-listener.ts';

const [own, other, retired] = ['al_test_own', 'al_test_other', 'al_test_retired'];
const mock = actlogMock({ apiKey: own, otherKeys: [{ apiKey: other, tenant: 'other' }] });
let listener: HttpListener;

beforeAll(async () => {
  listener = await HttpListener.start(mock);
});
afterAll(() => listener.close());

function failures({ requirements }: ContractReport): string[] {
  return requirements.flatMap(({ id, checks }) =>
    checks.filter(({ status }) => status === 'failed').map(({ name, detail }) => `${id} ${name}: ${detail}`),
  );
}

it('conforms to the specification and the reference profile', async () => {
  const report = await runContract({
    baseURL: listener.url,
    apiKey: own,
    secondTenantKey: other,
    retiredKey: retired,
    capabilities: ['reference-profile'],
  });
  expect(failures(report)).toEqual([]);
  const skipped = report.requirements.filter(({ status }) => status === 'skipped').map(({ id }) => id);
  expect(skipped).toEqual(['LIM-01', 'LIM-02']); // the rate limit is a fault that is not enabled
  expect(report).toMatchObject({ ok: true, complete: true });
});

it('conforms to the rate limit requirements with that fault', async () => {
  const limited = { ...mock, handlers: [mock.rateLimited({ times: 1 }), ...mock.handlers] };
  const own = await HttpListener.start(limited);
  try {
    const report = await runContract({ baseURL: own.url, apiKey: 'al_test_own', only: ['LIM-02', 'LIM-03'] });
    expect(failures(report)).toEqual([]);
    expect(report.requirements.find(({ id }) => id === 'LIM-02')).toMatchObject({ status: 'passed' });
  } finally {
    await own.close();
  }
});
