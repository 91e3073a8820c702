import { beforeEach, expect, test } from 'vitest';
import { signIn, signInSetup } from '../sign-in/sign-in-setup.ts';
import { TestBrowser } from '../sign-in/test-browser.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { addChannel, route } from './channel-tools.ts';
import { LoopbackMail } from './loopback-mail.ts';

const publicUrl = 'https://actlog.example.com';

let mail: LoopbackMail;
let server: TestServer;

beforeEach(async () => {
  mail = await LoopbackMail.start();
  server = await testServer({ ...mail.settings, publicUrl });
});

async function hold(fields: object = {}): Promise<string> {
  await server.policy({ name: 'Refunds', effect: 'require_approval' });
  return (await server.check({ actionId: 'call-1', ...fields })).pendingActionId as string;
}

test('mails each address what is held, with a link to the very action and without its arguments', async () => {
  await addChannel(server, { kind: 'mail', settings: { to: ['One@example.com', 'two@example.com'] } });
  const action = {
    toolName: 'refund',
    argumentsHash: 'sha256:aa',
    arguments: { iban: 'DE02120300000000202051' },
  };
  const id = await hold({ action });
  const mails = await mail.received(2);
  expect(mails.map(({ to }) => to).sort()).toEqual([['one@example.com'], ['two@example.com']]);
  for (const { source, from } of mails) {
    expect(from).toBe('actlog@example.com');
    expect(source).toContain('Subject: Held: refund by billing-agent');
    expect(source).toContain('Policy: Refunds');
    expect(source).toContain('Arguments hash: sha256:aa');
    expect(source).toContain(`${publicUrl}/console/#/approvals/${id}`);
    expect(source).not.toContain('DE02120300000000202051');
    expect(source).toContain('Auto-Submitted: auto-generated');
  }
});

test('sends nothing that an agent wrote as a header or as HTML', async () => {
  await addChannel(server, { kind: 'mail', settings: { to: ['one@example.com'] } });
  const principal = 'ada <img src="https://eve.example"> \u202eBcc: eve@example.com';
  await hold({ principal, action: { toolName: '<b>refund</b>', argumentsHash: 'sha256:aa' } });
  const [received] = await mail.received(1);
  expect(received?.to).toEqual(['one@example.com']);
  expect(received?.source).not.toMatch(/^Bcc:/m);
  expect(received?.source).toContain('&#60;img');
  expect(received?.source).toContain('\\u202eBcc');
  expect(received?.source).not.toContain('<div>Tool: <b>');
});

test('repeats a mail for the address that was refused, and only for it', async () => {
  mail.refused.push('two@example.com');
  const id = await addChannel(server, {
    kind: 'mail',
    settings: { to: ['one@example.com', 'two@example.com'] },
  });
  await hold();
  const mails = await mail.received(2);
  expect(mails.map(({ to }) => to)).toEqual([['one@example.com'], ['two@example.com']]);
  const attempts = async () => {
    const { body } = await route(server, 'GET', `/channels/${id}/deliveries?status=delivered`);
    return body.items.map((item: { attempts: number }) => item.attempts).sort();
  };
  await expect.poll(attempts).toEqual([1, 2]);
});

test('tells that an action was decided, if the channel wants that', async () => {
  const rules = { events: ['decided'] };
  await addChannel(server, { kind: 'mail', settings: { to: ['one@example.com'] }, rules });
  const id = await hold();
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  const [received] = await mail.received(1);
  expect(received?.source).toContain('Subject: Decided: refund by billing-agent');
  expect(received?.source).toMatch(/Approved by key_/);
});

test('says what the operator has to set on a server that sends no mail', async () => {
  const other = await testServer({ publicUrl });
  const settings = { to: ['one@example.com'] };
  const { status, body } = await route(other, 'POST', '/channels', { kind: 'mail', name: 'ops', settings });
  expect(status).toBe(400);
  expect(body.error.message).toContain('ACTLOG_SMTP_URL and ACTLOG_MAIL_FROM');
  const { body: listed } = await route(other, 'GET', '/channels');
  expect(listed.kinds).toContainEqual({ kind: 'mail', problem: expect.stringContaining('ACTLOG_SMTP_URL') });
});

test('never shows the password of the mail server', async () => {
  const id = await addChannel(server, { kind: 'mail', settings: { to: ['one@example.com'] } });
  for (const place of ['/channels', `/channels/${id}`, '/audit']) {
    const text = JSON.stringify((await route(server, 'GET', place)).body);
    expect(text).not.toContain('password');
  }
});

test.each([
  ['one@example.com, two@example.com', 'must be an email address'],
  ['one@example.com\r\nBcc: eve@example.com', 'must be an email address'],
])('refuses the address %j', async (address, message) => {
  const settings = { to: [address] };
  const { status, body } = await route(server, 'POST', '/channels', { kind: 'mail', name: 'ops', settings });
  expect(status).toBe(400);
  expect(body.error.message).toContain(message);
});

test('belongs to the tenant of the people who sign in, so that no other sends mail in the name of the operator', async () => {
  const { admin } = server.server;
  await admin.tenants.create('other');
  const { apiKey } = await admin.keys.create('other', { name: 'admin' });
  const settings = { to: ['one@example.com'] };
  const other = await route(server.as(apiKey), 'POST', '/channels', { kind: 'mail', name: 'ops', settings });
  expect(other).toMatchObject({ status: 400, body: { error: { details: [{ code: 'other_tenant' }] } } });
});

test('leads a person through the sign-in to the action', async () => {
  const setup = await signInSetup(mail.settings);
  await addChannel(setup.server, { kind: 'mail', settings: { to: ['one@example.com'] } });
  await setup.server.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await setup.server.check({ actionId: 'call-1' });
  const [received] = await mail.received(1);
  const link = new URL(/http\S+#\/approvals\/\w+/.exec(received?.source ?? '')?.[0] ?? '');
  expect(link.hash).toBe(`#/approvals/${id}`);
  const { url } = await signIn(new TestBrowser(), setup.url, 'grace', { place: link.hash });
  expect(url).toBe(link.href);
});
