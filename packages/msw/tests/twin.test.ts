import { randomUUID } from 'node:crypto';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HttpListener } from './http-listener.ts';
import { comparable } from './twin/comparable.ts';
import { type Step, script } from './twin/script.ts';

let server: RunningServer;
let listener: HttpListener;
const mock = actlogMock({ apiKey: 'al_test_twin' });

beforeAll(async () => {
  server = await startServer({ docs: false });
  listener = await HttpListener.start(mock);
});
afterAll(async () => {
  await listener.close();
  await server.close();
});

/** Sends the script, each step with the ids that answers before it gave, and returns what can be compared. */
async function played(baseURL: string, apiKey: string, steps: readonly Step[]): Promise<unknown[]> {
  const found: Record<string, string> = {};
  const fill = (text: string) => text.replaceAll(/\$(\w+)/g, (_, name: string) => found[name] ?? 'nothing');
  const answers: unknown[] = [];
  for (const {
    method,
    path,
    body,
    text = JSON.stringify(body) as string | undefined,
    headers,
    keep,
  } of steps) {
    const response = await fetch(baseURL + fill(path), {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text !== undefined && { body: fill(text) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    for (const [name, field] of Object.entries(keep ?? {})) found[name] = String(answer[field]);
    answers.push({ asked: `${method} ${path}`, status: response.status, answer: comparable(answer) });
  }
  return answers;
}

it('answers as the reference server does, step by step', async () => {
  const steps = script(Array.from({ length: 12 }, () => randomUUID()));
  const expected = await played(server.url, String(server.apiKey), steps);
  expect(await played(listener.url, 'al_test_twin', steps)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(60);
});
