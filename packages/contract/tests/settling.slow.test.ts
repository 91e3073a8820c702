import { afterAll, beforeAll, expect, it } from 'vitest';
import { runContract } from '../src/index.ts';
import { Deployment } from './deployment.ts';
import { documents, refusal, requests } from './mutants/mutant.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
});

afterAll(() => deployment.close());

/** Sleeps of a run in which the data of a fault never appears, in milliseconds. */
async function sleptMs(fault: ReturnType<typeof requests>): Promise<number> {
  const keys = await deployment.newKeys();
  const proxy = await deployment.newProxy(fault());
  let slept = 0;
  const sleep = async (delayMs: number) => {
    slept += delayMs;
  };
  const report = await runContract({
    baseURL: proxy.url,
    apiKey: keys.own,
    settleMs: 2000,
    clock: { sleep },
  });
  await proxy.close();
  expect(report).toMatchObject({ ok: false, complete: true });
  return slept;
}

it.each([
  ['sessions', requests('GET /v1/sessions/:id', () => refusal(404, 'NOT_FOUND'))],
  ['events', documents('GET /v1/sessions/:id', (it) => void Object.assign(it, { events: [] }))],
  ['records', requests('GET /v1/agents/:id', () => refusal(404, 'NOT_FOUND'))],
])('waits for %s that never appear once in a run, not once in each check', async (_what, fault) => {
  const slept = await sleptMs(fault);
  expect(slept).toBeGreaterThan(1000);
  expect(slept).toBeLessThan(4000);
});
