import { request } from 'node:http';
import { expect, test } from 'vitest';
import { start } from './command-line.ts';
import { atTestEnd } from './test-end.ts';

/** Starts the command in this process, and waits until it listens. */
async function startedHere() {
  const server = start(['--port', '0', '--database', ':memory:']);
  atTestEnd(async () => server.kill());
  await server.stderr.until((text) => text.includes('ACTLOG_API_KEY='));
  const shown = (name: string) => new RegExp(`${name}=(\\S+)`).exec(server.stderr.text)?.[1] as string;
  return { server, url: shown('ACTLOG_BASE_URL'), apiKey: shown('ACTLOG_API_KEY') };
}

test('does not log an interrupted upload as an error', async () => {
  const { server, url, apiKey } = await startedHere();
  const upload = request(`${url}/v1/events`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'content-length': 1000,
    },
  });
  upload.on('error', () => {});
  await new Promise((resolve) => upload.write('{', resolve));
  // A later request has a response, so the server is waiting for the rest of the body.
  await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${apiKey}` } });
  await new Promise((resolve) => upload.once('close', resolve).destroy());
  server.kill();
  expect(await server.exit).toEqual({ code: 0, signal: null });
  const { logged } = server.stdout;
  const lines = logged
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; status?: number; route?: string });
  expect(lines.filter(({ route }) => route === '/v1/events')).toMatchObject([{ status: 499 }]);
  expect(lines.filter(({ level }) => level > 30)).toEqual([]);
});

test('logs and counts a malformed path, without its text', async () => {
  const { server, url } = await startedHere();
  for (const path of ['secret%zz', `sessions/${'x'.repeat(3000)}`]) {
    expect((await fetch(`${url}/v1/${path}`)).status).toBe(400);
  }
  const name = 'actlog_http_request_duration_seconds_count{method="GET",route="none",status="400"}';
  expect(await (await fetch(`${url}/metrics`)).text()).toContain(`${name} 2\n`);
  server.kill();
  expect(await server.exit).toEqual({ code: 0, signal: null });
  const { logged } = server.stdout;
  const lines = logged.trim().split('\n');
  const refused = lines.map((line) => JSON.parse(line)).filter(({ status }) => status === 400);
  expect(refused).toMatchObject([{ route: 'none' }, { route: 'none' }]);
  expect(refused.map(({ requestId }) => typeof requestId)).toEqual(['string', 'string']);
  expect(logged).not.toMatch(/secret|xxx/);
});
