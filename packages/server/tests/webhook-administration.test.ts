import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runHere } from './command-line.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';
import { type ReceivedMessage, WebhookReceiver } from './webhook-receiver.ts';

let receiver: WebhookReceiver;
let url: string;

beforeEach(async () => {
  receiver = new WebhookReceiver();
  url = await receiver.listen();
});

afterEach(() => receiver.close());

/** Starts a server that sends a message to the receiver for each check. */
async function sendingServer(database?: string) {
  const server = await testServer({
    webhookAllowedRanges: ['127.0.0.0/8'],
    ...(database !== undefined && { database }),
  });
  const body = { url, events: ['policy.matched' as const] };
  const webhook = await server.ok('notificationChannels.create', { body });
  await server.policy({ mode: 'log_only' });
  return { server, webhook, admin: server.server.admin };
}

async function nextMessage(server: TestServer): Promise<ReceivedMessage> {
  const count = receiver.messages.length + 1;
  await server.check();
  return (await receiver.received(count)).at(-1) as ReceivedMessage;
}

/** Returns, for each secret, whether the message is signed with it. */
function signers({ text, headers }: ReceivedMessage, secrets: readonly string[]): boolean[] {
  return secrets.map((secret) => {
    try {
      new Webhook(secret).verify(text, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  });
}

test('signs with both secrets during the overlap of a rotation, and then with the new one', async () => {
  const { server, webhook, admin } = await sendingServer();
  const secrets = [webhook.secret, await admin.webhooks.rotateSecret('default', webhook.id)];
  expect(secrets[1]).toMatch(/^whsec_/);
  expect(signers(await nextMessage(server), secrets)).toEqual([true, true]);
  secrets.push(await admin.webhooks.rotateSecret('default', webhook.id, 7));
  expect(signers(await nextMessage(server), secrets)).toEqual([false, true, true]);
  secrets.push(await admin.webhooks.rotateSecret('default', webhook.id, 0));
  expect(signers(await nextMessage(server), secrets)).toEqual([false, false, false, true]);
  const shown = JSON.stringify([
    await admin.webhooks.list('default'),
    await server.ok('notificationChannels.list'),
  ]);
  for (const hidden of [...secrets, 'previous']) expect(shown).not.toContain(hidden);
});

test('refuses an invalid overlap, and an unknown webhook', async () => {
  const { webhook, admin } = await sendingServer();
  for (const days of [-1, 8, Number.NaN]) {
    const refusal = `The overlap must be 0 to 7 days, not ${days}.`;
    await expect(admin.webhooks.rotateSecret('default', webhook.id, days)).rejects.toThrow(
      RangeError(refusal),
    );
  }
  const none = 'has no webhook "nch_none"';
  await expect(admin.webhooks.rotateSecret('default', 'nch_none')).rejects.toThrow(none);
  await expect(admin.webhooks.disable('default', 'nch_none')).rejects.toThrow(none);
  await expect(admin.webhooks.enable('default', 'nch_none')).rejects.toThrow(none);
  await expect(admin.webhooks.deliveries('default', 'nch_none')).rejects.toThrow(none);
  await admin.tenants.create('another');
  await expect(admin.webhooks.disable('another', webhook.id)).rejects.toThrow('has no webhook');
});

test('sends nothing to a disabled webhook until it is enabled', async () => {
  const { server, webhook, admin } = await sendingServer();
  await admin.webhooks.disable('default', webhook.id);
  await server.check();
  expect(await admin.webhooks.list('default')).toMatchObject([{ id: webhook.id, status: 'disabled' }]);
  expect(await admin.webhooks.deliveries('default', webhook.id)).toEqual([]);
  await admin.webhooks.enable('default', webhook.id);
  await nextMessage(server);
  expect(receiver.messages).toHaveLength(1);
});

test('enables a webhook only within the quota', async () => {
  const { webhook, admin } = await sendingServer();
  await admin.tenants.setQuota('default', { channels: 0 });
  await admin.webhooks.enable('default', webhook.id);
  await admin.webhooks.disable('default', webhook.id);
  await expect(admin.webhooks.enable('default', webhook.id)).rejects.toThrow(
    'The quota channels of the tenant',
  );
  expect(await admin.webhooks.list('default')).toMatchObject([{ status: 'disabled' }]);
});

// The database is a flag of the commands, so one run is enough.
test.skipIf(onPostgres)(
  'does the same by command beside a running server',
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
    atTestEnd(async () => rmSync(folder, { recursive: true }));
    const { server, webhook } = await sendingServer(join(folder, 'actlog.db'));
    const command = async (args: readonly string[], env: Record<string, string> = {}) => {
      return (await runHere(['webhooks', ...args], { cwd: folder, env })).stdout;
    };
    expect(await command(['list'])).toBe(
      `${webhook.id}\tactive\t${url}\tpolicy.matched\t0 failures in a row\n`,
    );
    await expect(command(['rotate', webhook.id], { ACTLOG_SECRET: 'x'.repeat(32) })).rejects.toMatchObject({
      stderr: expect.stringContaining('ACTLOG_SECRET'),
    });
    const secret = (await command(['rotate', webhook.id])).trim();
    expect(signers(await nextMessage(server), [secret, webhook.secret])).toEqual([true, true]);
    const [line = ''] = (await command(['deliveries', webhook.id])).split('\n');
    expect(line).toMatch(/^dlv_\w+\t\S+Z\tpolicy\.matched\tdelivered\t1 attempts\tresponded with 204$/);
    await command(['replay', line.split('\t')[0] as string]);
    await receiver.received(2);
    await command(['disable', webhook.id]);
    expect(await command(['list'])).toContain('\tdisabled\t');
    await command(['enable', webhook.id]);
    expect(await command(['list'])).toContain('\tactive\t');
  },
);
