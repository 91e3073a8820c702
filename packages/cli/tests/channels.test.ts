import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Actlog } from '@actlog/client';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';

let server: RunningServer;
let receiver: Server;
let env: Readonly<Record<string, string>>;
let channel: string;
const statuses: number[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(statuses.shift() ?? 204).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  server = await startServer({
    docs: false,
    webhookAllowedRanges: ['127.0.0.0/8'],
    webhookAllowedPorts: 'any',
  });
  env = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: server.apiKey };
  const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  const { port } = receiver.address() as AddressInfo;
  channel = (await client.notificationChannels.create({ url: `http://127.0.0.1:${port}/hook` })).id;
});

afterAll(async () => {
  await server.close();
  receiver.closeAllConnections();
  receiver.close();
});

async function run(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await actlog(['channels', ...args], { env });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout;
}

it('tests a webhook, lists the failure with its reason, and resends the message', async () => {
  statuses.push(500);
  const { id } = JSON.parse(await run('test', channel, '--json'));
  await expect
    .poll(() => run('deliveries', channel, '--status', 'failed'), { timeout: 20_000 })
    .toMatch(new RegExp(`^${id} +failed +webhook\\.test +1 +the receiver responded with 500`, 'm'));
  expect(await run('show', channel)).toMatch(/^status +failing$/m);
  await run('resend', id);
  await expect
    .poll(() => run('deliveries', channel, '--jsonl'), { timeout: 20_000 })
    .toContain('"status":"delivered"');
}, 60_000);

it('disables, enables and rotates a webhook', async () => {
  expect(await run('disable', channel)).toMatch(/^status +disabled$/m);
  expect(await run('enable', channel)).toMatch(/^status +active$/m);
  const rotated = await actlog(['channels', 'rotate', channel, '--overlap-days', '0.5'], { env });
  expect(rotated.stdout).toMatch(/^secret +whsec_/m);
  expect(rotated.stderr).toContain('it is not shown again');
  const invalid = await actlog(['channels', 'rotate', channel, '--overlap-days', 'x'], { env });
  expect(invalid).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('number of days') });
}, 30_000);

it('deletes a webhook only after a confirmation', async () => {
  const refused = await actlog(['channels', 'delete', channel], { env });
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') });
  await run('delete', channel, '--yes');
  const gone = await actlog(['channels', 'show', channel], { env });
  expect(gone.stderr).toContain('webhook');
  expect(gone.exitCode).not.toBe(0);
}, 30_000);
