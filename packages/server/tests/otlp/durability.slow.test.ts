import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { ChildServer } from '../child-server.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { protobufOf, sendTraces, toolSpanJson, traceRequest } from './trace-request.ts';

test('keeps every span of a request with a 200 when the process is killed, and scores them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-otlp-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const apiKey = newApiKey('test');
  const options = { database: join(folder, 'a.db'), docs: false, apiKey };
  const child = await ChildServer.start(options);
  atTestEnd(() => child.kill());
  const spans = Array.from({ length: 300 }, (_, index) =>
    toolSpanJson(`tool-${index}`, { 'gen_ai.conversation.id': 'killed' }),
  );
  const target = { server: { url: child.url }, apiKey } as never;
  const response = await sendTraces(target, protobufOf(traceRequest(spans)));
  await child.kill();
  expect(response.status).toBe(200);
  const server = (await testServer(options)).as(apiKey);
  expect((await server.ok('sessions.get', { id: 'killed' })).eventCount).toBe(300);
  expect((await server.ok('sessions.risk', { id: 'killed' })).eventCount).toBe(300);
});
