import { fileURLToPath } from 'node:url';
import { Service } from '@actlog/adapter-suite';
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { bundled } from './bundle.ts';

let service: Service;
let worker: Miniflare | undefined;

beforeAll(async () => {
  service = await Service.start();
  const { policies } = service.client;
  await policies.create({ name: 'no', effect: 'deny', match: { tools: ['remove'] }, message: 'Users stay.' });
  await policies.create({ name: 'ask', effect: 'require_approval', match: { tools: ['send'] } });
  const module = await import('miniflare').catch(() => undefined);
  if (!module) return;
  worker = new module.Miniflare({
    modules: true,
    script: await bundled(fileURLToPath(new URL('worker.ts', import.meta.url))),
    compatibilityDate: '2026-06-01',
    compatibilityFlags: ['nodejs_compat'],
    durableObjects: { Support: { className: 'Support', useSQLite: true } },
    bindings: { ACTLOG_BASE_URL: service.url, ACTLOG_API_KEY: service.apiKey },
  });
});
beforeEach(({ skip }) => {
  if (!worker) skip('miniflare is not installed');
});
afterAll(async () => {
  await worker?.dispose();
  await service.close();
});

/** Asks an agent, which is a Durable Object by its name, and returns its response. */
async function ask(name: string, query: string) {
  const response = await worker?.dispatchFetch(`http://localhost/agents/support/${name}?${query}`);
  const text = (await response?.text()) ?? '';
  expect(response?.status, text).toBe(200);
  return JSON.parse(text);
}

for (const [how, query] of [
  ['generateText', ''],
  ['streamText', '&streamed'],
] as const) {
  test(`records and guards the tools of ${how} in an agent on workerd`, async () => {
    const name = `ticket-${how}`;
    const { text, ran, closed } = await ask(name, `call=read&call=remove${query}`);
    expect({ text, ran }).toEqual({ text: 'done', ran: ['read u-1'] });
    expect(closed).toMatchObject({ pending: 0, dropped: 0 });
    const lines = await service.callLines(name);
    expect(lines.sort()).toEqual(['support read 200', 'support remove 403']);
  });
}

test('holds a call of an agent on workerd until a person approves it', async () => {
  const response = ask('ticket-held', 'call=send');
  await service.decide('ticket-held', 'approve');
  expect(await response).toMatchObject({ text: 'done', ran: ['send u-1'] });
  expect(await service.callLines('ticket-held')).toEqual(['support send 200']);
});
