import { afterAll, beforeAll, expect, it } from 'vitest';
import { runContract } from '../src/index.ts';
import { Deployment } from './deployment.ts';
import { isKeyed, isTo } from './mutants/mutant.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
});

afterAll(() => deployment.close());

it('reports on everything else if one endpoint never responds', async () => {
  const keys = await deployment.newKeys();
  deployment.proxy.fault = {
    request: (passing) => {
      if (isTo('POST /v1/events', passing) && isKeyed(passing)) throw new Error('The connection breaks.');
    },
  };
  deployment.proxy.seen.length = 0;
  const only = ['EVT-01', 'EVT-02', 'END-01', 'END-11', 'END-12'];
  const report = await runContract({ baseURL: deployment.proxy.url, apiKey: keys.own, only });
  const statuses = report.requirements.map(({ id, status }) => `${id} ${status}`);
  expect(statuses).toEqual([
    'EVT-01 failed',
    'EVT-02 failed',
    'END-01 failed',
    'END-11 passed',
    'END-12 passed',
  ]);
  expect(deployment.proxy.seen.filter((request) => request === 'POST /v1/events')).toHaveLength(2);
  expect(report).toMatchObject({ ok: false, complete: true });
});

it('archives its policies even if the deployment stops responding during the run', async () => {
  const keys = await deployment.newKeys();
  let isSilent = false;
  deployment.proxy.fault = {
    request: ({ method }) => {
      if (isSilent && method !== 'DELETE') throw new Error('The connection breaks.');
    },
    response: (_returning, passing) => {
      isSilent ||= isTo('POST /v1/policies', passing);
    },
  };
  const report = runContract({
    baseURL: deployment.proxy.url,
    apiKey: keys.own,
    capabilities: ['reference-profile'],
    only: ['END-11', 'PRF-01'],
  });
  await expect(report).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: expect.stringMatching(
      /Left behind with the prefix actlog-contract-.*: .*1 archived policies\.$/,
    ),
  });
  const headers = { authorization: `Bearer ${keys.own}` };
  const response = await fetch(`${deployment.server.url}/v1/policies`, { headers });
  expect(await response.json()).toMatchObject({ items: [{ status: 'archived' }] });
});
