import { AdaptiveCard, SerializationContext } from 'adaptivecards';
import { beforeEach, expect, test } from 'vitest';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';
import { addChannel, route } from './channel-tools.ts';

const publicUrl = 'https://actlog.example.com';

let receiver: WebhookReceiver;
let url: string;
let server: TestServer;

beforeEach(async () => {
  receiver = new WebhookReceiver();
  url = `${await receiver.listen()}?sig=a-secret`;
  atTestEnd(() => receiver.close());
  server = await testServer({ publicUrl, webhookAllowedRanges: ['127.0.0.0/8'] });
});

/** Returns the card of a message, which must be a valid Adaptive Card of its version. */
// biome-ignore lint/suspicious/noExplicitAny: the tests read any part of a card
function cardIn(text: string | undefined): Record<string, any> {
  const { type, attachments } = JSON.parse(text ?? '{}');
  expect({ type, contentType: attachments[0].contentType }).toEqual({
    type: 'message',
    contentType: 'application/vnd.microsoft.card.adaptive',
  });
  const { content } = attachments[0];
  const card = new AdaptiveCard();
  const context = new SerializationContext();
  card.parse(content, context);
  expect(Array.from({ length: context.eventCount }, (_, at) => context.getEventAt(at).message)).toEqual([]);
  expect(card.validateProperties().validationEvents).toEqual([]);
  // Nothing is lost: every element is one that the library knows.
  expect(card.getItemCount()).toBe(content.body.length);
  expect(card.getActionCount()).toBe(content.actions.length);
  return content;
}

test('posts an Adaptive Card that shows what is held, and only links to the console', async () => {
  await addChannel(server, { kind: 'teams', settings: { url } });
  await server.policy({
    name: 'Refunds',
    effect: 'require_approval',
    message: '**Ask** [finance](https://eve.example)',
  });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  const [message] = await receiver.received(1);
  const card = cardIn(message?.text);
  expect(card.actions).toEqual([
    { type: 'Action.OpenUrl', title: 'Open in the console', url: `${publicUrl}/console/#/approvals/${id}` },
  ]);
  const text = JSON.stringify(card.body);
  for (const fact of ['Held: refund by billing-agent', 'Refunds', 'sha256:aa', 'has no risk score yet']) {
    expect(text).toContain(fact);
  }
  // Runs of text are no Markdown.
  expect(card.body.every(({ type }: { type: string }) => type === 'RichTextBlock')).toBe(true);
});

test('posts alerts and test messages as cards', async () => {
  const id = await addChannel(server, { kind: 'teams', settings: { url } });
  await route(server, 'POST', `/channels/${id}/test`, {});
  cardIn((await receiver.received(1))[0]?.text);
  await route(server, 'POST', '/alert-rules', { name: 'Denials', kind: 'denied' });
  await server.policy({ effect: 'deny' });
  await server.check({ actionId: 'call-1' });
  const card = cardIn((await receiver.received(2))[1]?.text);
  expect(JSON.stringify(card.body)).toContain('Denials: denied: refund of billing-agent');
});

test('stores the address encrypted, and shows it nowhere', async () => {
  const id = await addChannel(server, { kind: 'teams', settings: { url } });
  for (const place of ['/channels', `/channels/${id}`, '/audit']) {
    expect(JSON.stringify((await route(server, 'GET', place)).body)).not.toContain('a-secret');
  }
});

test.each([
  ['http://10.0.0.1/workflow', 'must be an https address'],
  ['https://192.168.0.1/workflow', 'is not a public address'],
  ['not a url', 'must be the address of a workflow'],
])('refuses the address %s', async (address, message) => {
  const channel = { kind: 'teams', name: 'ops', settings: { url: address } };
  const { status, body } = await route(server, 'POST', '/channels', channel);
  expect(status).toBe(400);
  expect(body.error.message).toContain(message);
});
