import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContractOptions, type ContractReport, requirements, runContract } from '../src/index.ts';
import { Deployment } from './deployment.ts';
import type { MutantKeys } from './mutants/mutant.ts';

let deployment: Deployment;
let keys: MutantKeys;

beforeAll(async () => {
  deployment = await Deployment.start();
});

afterAll(() => deployment.close());

async function run(options: Partial<ContractOptions> = {}): Promise<ContractReport> {
  keys = await deployment.newKeys();
  deployment.proxy.fault = {};
  deployment.proxy.seen.length = 0;
  return runContract({
    baseURL: deployment.proxy.url,
    apiKey: keys.own,
    secondTenantKey: keys.other,
    retiredKey: keys.retired,
    ...options,
  });
}

function idsWith({ requirements: results }: ContractReport, status: string): string[] {
  return results.filter((result) => result.status === status).map(({ id }) => id);
}

it('passes everything, including the reference profile', async () => {
  const report = await run({ capabilities: ['reference-profile'] });
  expect(idsWith(report, 'failed')).toEqual([]);
  expect(idsWith(report, 'skipped')).toEqual(['LIM-01', 'LIM-02']); // the rate limit is not tested
  expect(report).toMatchObject({ ok: true, complete: true });
  expect(report.requirements.map(({ id }) => id)).toEqual(requirements.map(({ id }) => id));
});

it('passes the rate limit checks when they are enabled', async () => {
  const limited = await Deployment.start({ rateLimit: { requestsPerSecond: 0.1, burst: 15 } });
  try {
    const { own, other } = await limited.newKeys();
    const report = await runContract({
      baseURL: limited.server.url,
      apiKey: own,
      secondTenantKey: other,
      burst: 30,
      only: ['LIM-01', 'LIM-02'],
    });
    expect(idsWith(report, 'passed')).toEqual(['LIM-01', 'LIM-02']);
  } finally {
    await limited.close();
  }
});

it('sends only GET requests in a read-only run', async () => {
  const report = await run({ readOnly: true, capabilities: ['reference-profile'] });
  expect(new Set(deployment.proxy.seen.map((request) => request.split(' ')[0]))).toEqual(new Set(['GET']));
  expect(report).toMatchObject({ ok: true, leftBehind: [] });
  expect(report.counts.passed).toBeGreaterThan(15);
  const written = report.requirements.find(({ id }) => id === 'ING-01');
  expect(written?.checks[0]).toMatchObject({
    status: 'skipped',
    detail: expect.stringContaining('is read-only'),
  });
});

it('archives every policy that it created, and names the records that are left', async () => {
  const report = await run({ capabilities: ['reference-profile'] });
  const response = await fetch(`${deployment.server.url}/v1/policies?status=active`, {
    headers: { authorization: `Bearer ${keys.own}` },
  });
  expect(await response.json()).toMatchObject({ items: [] });
  expect(report.leftBehind.join()).toMatch(/events.*agents.*archived policies.*webhooks/);
});

it.each([
  ['a whole run', {}],
  ['a run of the checks that hold one', { only: ['PRF-19', 'PRF-29', 'END-17'] }],
])('leaves no action held after %s', async (_what, options) => {
  const report = await run({ capabilities: ['reference-profile'], ...options });
  const listed = async (status: string) => {
    const response = await fetch(`${deployment.server.url}/v1/guardian/pending-actions?status=${status}`, {
      headers: { authorization: `Bearer ${keys.own}` },
    });
    return ((await response.json()) as { items: unknown[] }).items;
  };
  expect(await listed('pending')).toEqual([]);
  expect(await listed('denied')).not.toEqual([]);
  expect(report.leftBehind.join()).not.toContain('held');
});

it('skips decisions that another policy of the tenant affects', async () => {
  keys = await deployment.newKeys();
  const headers = { authorization: `Bearer ${keys.own}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'nobody does anything', effect: 'deny' });
  await fetch(`${deployment.server.url}/v1/policies`, { method: 'POST', headers, body });
  const report = await runContract({
    baseURL: deployment.server.url,
    apiKey: keys.own,
    capabilities: ['reference-profile'],
    only: ['PRF-19', 'PRF-20', 'PRF-21', 'PRF-29'],
  });
  expect(idsWith(report, 'skipped')).toEqual(['PRF-19', 'PRF-20', 'PRF-21', 'PRF-29']);
  expect(report.requirements[0]?.checks[0]?.detail).toContain('use a separate tenant');
});

it('cleans up after a stopped run and reports it as incomplete', async () => {
  const ended = new AbortController();
  const report = await run({
    signal: ended.signal,
    only: ['END', 'STA'],
    onProgress: (done) => {
      if (done === 26) ended.abort();
    },
  });
  expect(report).toMatchObject({ ok: false, complete: false });
  expect(report.requirements.some(({ status }) => status === 'passed')).toBe(true);
  const response = await fetch(`${deployment.server.url}/v1/policies?status=active`, {
    headers: { authorization: `Bearer ${keys.own}` },
  });
  expect(await response.json()).toMatchObject({ items: [] });
});

it('reports no key and no secret, even if a response contains one', async () => {
  keys = await deployment.newKeys();
  const { own, other } = keys;
  deployment.proxy.fault = {
    response: (it) => {
      if (it.status === 404) it.body = `you sent ${own} and not ${other}, whsec_c2VjcmV0`;
    },
  };
  const report = await runContract({
    baseURL: deployment.proxy.url,
    apiKey: own,
    secondTenantKey: other,
    settleMs: 0,
  });
  const text = JSON.stringify(report);
  expect(text).toContain('you sent [redacted]');
  for (const secret of [own, other, own.slice(8), 'c2VjcmV0']) expect(text).not.toContain(secret);
});

it('uses a new prefix for every run', async () => {
  const [first, second] = [await run({ only: ['SVC-01'] }), await run({ only: ['SVC-01'] })];
  expect(first.prefix).not.toBe(second.prefix);
});

it('times out a missing response', async () => {
  deployment.proxy.fault = {};
  keys = await deployment.newKeys();
  let sent = 0;
  const silent: typeof fetch = (input, init) => {
    sent += 1;
    if (sent === 1) return fetch(input, { ...init, signal: null });
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason), { once: true });
    });
  };
  const report = runContract({
    baseURL: deployment.proxy.url,
    apiKey: keys.own,
    fetch: silent,
    timeoutMs: 1,
    only: ['LST-05'],
  });
  await expect(report).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: expect.stringContaining('within 1 ms'),
  });
});

it('skips requests that the key may not make', async () => {
  const tenant = 'without-scopes';
  await deployment.server.admin.tenants.create(tenant);
  const { apiKey } = await deployment.server.admin.keys.create(tenant, {
    name: 'reader',
    kind: 'test',
    scopes: ['read'],
  });
  const report = await run({ apiKey, only: ['EVT', 'ACK', 'ING', 'END-01', 'END-06', 'ERR-04'] });
  expect(idsWith(report, 'failed')).toEqual([]);
  expect(idsWith(report, 'passed')).toEqual([]);
  for (const { checks } of report.requirements.filter(({ status }) => status === 'skipped')) {
    expect(checks[0]?.detail).toContain('the key may not do this');
  }
});
