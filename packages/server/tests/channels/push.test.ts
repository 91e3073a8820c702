import { createECDH, type ECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import ece from 'http_ece';
import { beforeEach, expect, test } from 'vitest';
import { SignedIn, type SignInSetup, signInSetup } from '../sign-in/sign-in-setup.ts';
import { atTestEnd } from '../test-end.ts';
import { addChannel, route } from './channel-tools.ts';

/** A notification as a browser decrypts it. */
interface Notice {
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly tag?: string;
}

/** A push service on a loopback address, and the browser that has subscribed there. */
class LoopbackPush {
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly notice: Notice }[] = [];
  /** Statuses of the next responses; 201 when none are left. */
  readonly statuses: number[] = [];
  readonly #keys: ECDH = createECDH('prime256v1');
  readonly #auth: Buffer = randomBytes(16);
  readonly #server: Server;
  #arrived: () => void = () => {};

  private constructor() {
    this.#keys.generateKeys();
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = ece.decrypt(Buffer.concat(chunks), {
          version: 'aes128gcm',
          privateKey: this.#keys,
          authSecret: this.#auth.toString('base64url'),
        });
        this.requests.push({ headers: request.headers, notice: JSON.parse(text.toString('utf8')) as Notice });
        response.writeHead(this.statuses.shift() ?? 201).end();
        this.#arrived();
      });
    });
  }

  static async start(): Promise<LoopbackPush> {
    const push = new LoopbackPush();
    push.#server.listen(0, '127.0.0.1');
    await once(push.#server, 'listening');
    atTestEnd(async () => {
      push.#server.closeAllConnections();
      push.#server.close();
      await once(push.#server, 'close');
    });
    return push;
  }

  get subscription() {
    const { port } = this.#server.address() as AddressInfo;
    const keys = { p256dh: this.#keys.getPublicKey('base64url'), auth: this.#auth.toString('base64url') };
    return { endpoint: `http://127.0.0.1:${port}/send/a-secret-path`, keys };
  }

  async received(count: number) {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.requests;
  }
}

const path = '/server/v1/push-subscriptions';

let push: LoopbackPush;
let setup: SignInSetup;
let grace: SignedIn;

beforeEach(async () => {
  push = await LoopbackPush.start();
  setup = await signInSetup({ webhookAllowedRanges: ['127.0.0.0/8'] });
  grace = await SignedIn.as('grace', setup.url);
});

async function subscribe(person: SignedIn, subscription: object = push.subscription): Promise<Response> {
  return person.send('POST', path, { label: 'Firefox on Android', subscription });
}

async function hold(approval: object = {}): Promise<string> {
  const rules = { timeoutSeconds: 900, onTimeout: 'deny', ...approval } as const;
  await setup.server.policy({ name: 'Refunds', effect: 'require_approval', approval: rules });
  return (await setup.server.check({ actionId: 'call-1' })).pendingActionId as string;
}

test('pushes a held action to the browser of an approver, encrypted, with a link to the very action', async () => {
  expect((await subscribe(grace)).status).toBe(201);
  await addChannel(setup.server, { kind: 'push' });
  const id = await hold();
  const [request] = await push.received(1);
  expect(request?.notice).toEqual({
    title: 'Held: refund by billing-agent',
    body: 'Waits for a decision. Refunds',
    url: `${setup.url}/console/#/approvals/${id}`,
    tag: id,
  });
  expect(request?.headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high' });
  expect(Number(request?.headers.ttl)).toBeLessThanOrEqual(900);
  expect(request?.headers.authorization).toMatch(/^vapid t=/);
  const { publicKey, items } = (await (await grace.send('GET', path)).json()) as {
    publicKey: string;
    items: object[];
  };
  expect(request?.headers.authorization).toContain(`k=${publicKey}`);
  expect(items).toMatchObject([{ label: 'Firefox on Android' }]);
  expect(JSON.stringify(items)).not.toContain('a-secret-path');
});

test('pushes to nobody who cannot approve the action', async () => {
  const alan = await SignedIn.as('alan', setup.url);
  await subscribe(alan);
  const channel = await addChannel(setup.server, { kind: 'push' });
  await hold({ approverGroups: ['security'] });
  const { body } = await route(setup.server, 'GET', `/channels/${channel}/deliveries`);
  expect(body.items).toEqual([]);
});

test.each([404, 410])('forgets a browser whose push service responds with %i', async (status) => {
  push.statuses.push(status);
  await subscribe(grace);
  const channel = await addChannel(setup.server, { kind: 'push' });
  await hold();
  await push.received(1);
  const browsers = async () => ((await (await grace.send('GET', path)).json()) as { items: object[] }).items;
  await expect.poll(browsers).toEqual([]);
  // The channel is still there for other browsers.
  expect((await route(setup.server, 'GET', `/channels/${channel}`)).body.status).toBe('active');
});

test('records who subscribes and removes a browser, and lets nobody remove that of another', async () => {
  const { id } = (await (await subscribe(grace)).json()) as { id: string };
  const ada = await SignedIn.as('ada', setup.url);
  expect(await ada.status('DELETE', `${path}/${id}`)).toBe(404);
  expect(await grace.status('DELETE', `${path}/${id}`)).toBe(200);
  const { body } = await route(setup.server, 'GET', '/audit?targetKind=push_subscription');
  expect(body.items).toMatchObject([
    { action: 'push_subscription.deleted', actor: { principal: 'grace@example.com' } },
    { action: 'push_subscription.created', actor: { principal: 'grace@example.com' } },
  ]);
});

test.each([
  ['http://10.0.0.1/send', 'must be an https address'],
  ['https://10.0.0.1/send', 'is not a public address'],
  ['https://[::ffff:169.254.169.254]/latest', 'is not a public address'],
  ['https://user:password@push.example.com/', 'user name or password'],
])('refuses the endpoint %s', async (endpoint, message) => {
  const response = await subscribe(grace, { ...push.subscription, endpoint });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: { message: string } }).error.message).toContain(message);
});

test('refuses a subscription with a key, which belongs to nobody', async () => {
  const { status } = await route(setup.server, 'POST', '/push-subscriptions', {
    label: 'x',
    subscription: push.subscription,
  });
  expect(status).toBe(403);
});
