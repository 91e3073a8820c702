import { limits } from '@actlog/protocol';
import { startServer } from '@actlog/server';
import { expect, it } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HttpListener } from './http-listener.ts';
import { comparable } from './twin/comparable.ts';

/**
 * Metadata half of which fits an agent twice only in part: two of them exceed the limit. Each character is
 * two bytes.
 */
const half = 'é'.repeat(limits.maxBodyBytes / 4);

const patches = [
  { metadata: { first: half } },
  { metadata: { second: half } },
  { name: 'B' },
  { metadata: { first: null, second: half } },
  { metadata: null },
];

async function played(baseURL: string, apiKey: string): Promise<unknown[]> {
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(baseURL + path, { method, headers, body: JSON.stringify(body) });
    return { status: response.status, body: comparable(await response.json()) };
  };
  const responses = [await send('POST', '/v1/agents', { id: 'a', name: 'A' })];
  for (const patch of patches) responses.push(await send('PATCH', '/v1/agents/a', patch));
  return responses;
}

it('limits the merged metadata like the reference server', async () => {
  const server = await startServer({ docs: false });
  const listener = await HttpListener.start(actlogMock({ apiKey: 'al_test_bound' }));
  const responses = await played(listener.url, 'al_test_bound');
  const expected = await played(server.url, server.apiKey);
  await listener.close();
  await server.close();
  expect(responses).toEqual(expected);
  expect(responses[2]).toMatchObject({
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: [{ path: 'metadata', code: 'too_big' }] } },
  });
});
