import { afterAll, beforeAll, expect, it } from 'vitest';
import { runContract } from '../src/index.ts';
import { Deployment } from './deployment.ts';
import { lawfulChoices } from './mutants/lawful.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
});

afterAll(() => deployment.close());

it.concurrent.each(lawfulChoices)('passes $name', async ({ fault, only, unmet }) => {
  const keys = await deployment.newKeys();
  const proxy = await deployment.newProxy(fault(keys));
  const report = await runContract({
    baseURL: proxy.url,
    apiKey: keys.own,
    secondTenantKey: keys.other,
    retiredKey: keys.retired,
    only,
    settleMs: 0,
    clock: { sleep: async () => {} },
  });
  await proxy.close();
  const failed = report.requirements.filter(({ status }) => status === 'failed');
  const faults = failed.map(({ id, level, checks }) => {
    const details = checks.filter(({ status }) => status === 'failed').map(({ detail }) => detail);
    return level === 'MUST' ? `${id}: ${details.join()}` : `*${id}`;
  });
  expect(faults).toEqual(unmet === undefined ? [] : [unmet]);
});
