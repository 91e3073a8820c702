import { limits } from '@actlog/protocol';
import { startServer } from '@actlog/server';
import { expect, it } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HttpListener } from './http-listener.ts';
import { comparable } from './twin/comparable.ts';

/** Two of them are too much for one agent. Each character is two bytes. */
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
    return { status: response.status, answer: comparable(await response.json()) };
  };
  const answers = [await send('POST', '/v1/agents', { id: 'a', name: 'A' })];
  for (const patch of patches) answers.push(await send('PATCH', '/v1/agents/a', patch));
  return answers;
}

it('bounds what metadata grows to as the reference server does', async () => {
  const server = await startServer({ docs: false });
  const listener = await HttpListener.start(actlogMock({ apiKey: 'al_test_bound' }));
  const answers = await played(listener.url, 'al_test_bound');
  const expected = await played(server.url, server.apiKey);
  await listener.close();
  await server.close();
  expect(answers).toEqual(expected);
  expect(answers[2]).toMatchObject({
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: [{ path: 'metadata', code: 'too_big' }] } },
  });
});
