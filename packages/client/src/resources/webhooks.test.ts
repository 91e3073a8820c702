import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { Webhooks } from './webhooks.ts';

const nowMs = 1_614_265_330_000;
const webhooks = new Webhooks({ ...systemClock, wallClock: () => nowMs });
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const otherSecret = `whsec_${btoa('another secret of some length')}`;
const body = JSON.stringify({
  type: 'policy.matched',
  timestamp: '2026-01-01T00:00:00Z',
  data: { policyId: 'p' },
});

describe('Webhooks', () => {
  it('makes the signature that the Standard Webhooks specification prints', async () => {
    const text = '{"test": 2432232314}';
    const timestamp = new Date(1_614_265_330_000);
    const headers = await webhooks.sign(text, secret, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('unwraps what it signed, as text, bytes, Headers or a record of any spelling', async () => {
    const headers = await webhooks.sign(body, secret);
    const event = await webhooks.unwrap(body, headers, secret);
    expect(event).toEqual(JSON.parse(body));
    expect(event.type === 'policy.matched' && event.data.policyId).toBe('p');
    expect(await webhooks.unwrap(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(
      event,
    );
    const shouted = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    expect(await webhooks.unwrap(body, shouted, secret)).toEqual(event);
  });

  it('takes an old and a new secret, and several signatures, while one is being changed', async () => {
    const old = await webhooks.sign(body, secret, { id: 'm' });
    const fresh = await webhooks.sign(body, otherSecret, { id: 'm' });
    const both = {
      ...old,
      'webhook-signature': `v2,x ${old['webhook-signature']} ${fresh['webhook-signature']}`,
    };
    for (const [headers, secrets] of [
      [old, [otherSecret, secret]],
      [both, secret],
      [both, otherSecret],
    ] as const) {
      await expect(webhooks.unwrap(body, headers, secrets)).resolves.toMatchObject({
        type: 'policy.matched',
      });
    }
  });

  it.each([
    ['another body', { text: body.replace('"p"', '"q"') }],
    ['another id', { id: 'other' }],
    ['another time', { timestamp: String(nowMs / 1000 + 1) }],
    ['no signature of a known version', { signature: 'v1a,AAAA' }],
    ['a signature that is no base64', { signature: 'v1,***' }],
    ['a signature that is cut', { signature: 'v1,g0hM9SsE' }],
    ['no signature at all', { signature: '' }],
    ['a time that is none', { timestamp: '1e9' }],
  ])('refuses %s', async (_what, { text = body, id, timestamp, signature }: Record<string, string>) => {
    const headers = await webhooks.sign(body, secret);
    const changed = {
      'webhook-id': id ?? headers['webhook-id'],
      'webhook-timestamp': timestamp ?? headers['webhook-timestamp'],
      'webhook-signature': signature ?? headers['webhook-signature'],
    };
    const call = webhooks.unwrap(text, changed, secret);
    await expect(call).rejects.toMatchObject({ code: 'WEBHOOK_VERIFICATION' });
  });

  it.each([[-301_000], [301_000]])(
    'refuses a delivery that is %d ms away, and takes it with more tolerance',
    async (offsetMs) => {
      const headers = await webhooks.sign(body, secret, { timestamp: new Date(nowMs + offsetMs) });
      await expect(webhooks.unwrap(body, headers, secret)).rejects.toThrow(/300 seconds/);
      await expect(webhooks.unwrap(body, headers, secret, { toleranceSeconds: 400 })).resolves.toBeDefined();
    },
  );

  it.each([Number.NaN, -1, '300', null])(
    'refuses a tolerance of %s, by which any delivery could be replayed',
    async (wrong) => {
      const toleranceSeconds = wrong as number;
      const headers = await webhooks.sign(body, secret, { timestamp: new Date(0) });
      await expect(webhooks.unwrap(body, headers, secret, { toleranceSeconds })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(
          `toleranceSeconds must be a number of seconds from 0, and is ${typeof wrong === 'string' ? JSON.stringify(wrong) : wrong}`,
        ),
      });
    },
  );

  it.each([0, Infinity])('takes a tolerance of %d', async (toleranceSeconds) => {
    const headers = await webhooks.sign(body, secret);
    await expect(webhooks.unwrap(body, headers, secret, { toleranceSeconds })).resolves.toBeDefined();
  });

  it.each(['not json', '[]', 'null', '{"type":7}'])(
    'refuses a signed body that is no event: %s',
    async (text) => {
      const headers = await webhooks.sign(text, secret);
      await expect(webhooks.unwrap(text, headers, secret)).rejects.toThrow(/is no event/);
    },
  );

  it.each(['', 'whsec_', 'whsec_***', [], [secret, undefined as never]])(
    'refuses the secret %j',
    async (wrong) => {
      const headers = await webhooks.sign(body, secret);
      await expect(webhooks.unwrap(body, headers, wrong)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    },
  );

  it('refuses a body that was parsed before', async () => {
    const headers = await webhooks.sign(body, secret);
    await expect(webhooks.unwrap(JSON.parse(body), headers, secret)).rejects.toThrow(/as they came/);
  });
});
