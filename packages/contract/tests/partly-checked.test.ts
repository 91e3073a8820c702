import { afterAll, beforeAll, expect, it } from 'vitest';
import { consoleReport } from '../src/contract-report.ts';
import { type ContractOptions, runContract } from '../src/index.ts';
import { Deployment } from './deployment.ts';
import { refusal } from './mutants/mutant.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
});

afterAll(() => deployment.close());

async function run(options: Partial<ContractOptions>) {
  const keys = await deployment.newKeys();
  return runContract({ baseURL: deployment.server.url, apiKey: keys.own, ...options });
}

it('shows a requirement of which a check was skipped as partly checked', async () => {
  const report = await run({ readOnly: true, only: ['AUT-05', 'AUT-02', 'ING-01'] });
  expect(report.requirements.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'ING-01 skipped',
    'AUT-02 passed',
    'AUT-05 partial',
  ]);
  expect(report.counts).toMatchObject({ passed: 1, partial: 1, skipped: 1, mustUnchecked: 2 });
  const text = consoleReport(report);
  expect(text).toMatch(
    / {2}~ AUT-05 MUST .* \(partly checked: \d+ of \d+ checks\)\n {6}– skipped \d+ checks: /,
  );
  expect(text).not.toContain('✓ AUT-05');
  expect(text).toContain('2 MUST requirements were skipped or partly checked');
});

it('passes such a run unless it is strict', async () => {
  const options = { readOnly: true, only: ['AUT-05'] };
  expect(await run(options)).toMatchObject({ ok: true, strict: false });
  const strict = await run({ ...options, strict: true });
  expect(strict).toMatchObject({ ok: false, strict: true, counts: { mustFailed: 0 } });
  expect(consoleReport(strict)).toContain('a strict run needs every MUST to be checked');
});

it('fails a service that refuses every write, unless its key is said to be limited', async () => {
  const keys = await deployment.newKeys();
  const proxy = await deployment.newProxy({
    request: ({ method, headers }) =>
      method !== 'GET' && headers.authorization === `Bearer ${keys.own}`
        ? refusal(403, 'FORBIDDEN')
        : undefined,
  });
  const options = { baseURL: proxy.url, apiKey: keys.own, settleMs: 0, only: ['END-0', 'END-1'] };
  const report = await runContract(options);
  expect(report).toMatchObject({ ok: false, counts: { mustFailed: 0 } });
  expect(report.uncheckedEndpoints).toContain('POST /v1/events');
  expect(consoleReport(report)).toMatch(
    /Nothing of these endpoints could be checked: POST \/v1\/events, .*--limited-key/,
  );
  const limited = await runContract({ ...options, limitedKey: true });
  expect(limited).toMatchObject({ ok: true, uncheckedEndpoints: report.uncheckedEndpoints });
  await proxy.close();
});

it('passes a strict run in which every MUST was checked', async () => {
  expect(await run({ strict: true, only: ['ACK', 'EVT-01', 'END-18'] })).toMatchObject({ ok: true });
});
