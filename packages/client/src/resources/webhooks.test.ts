import { describe, expect, it } from 'vitest';
import { systemClock } from '../client-options.ts';
import { Webhooks } from './webhooks.ts';

const nowMs = 1_614_265_330_000;
const webhooks = new Webhooks({ ...systemClock, wallClock: () => nowMs });
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const otherSecret = `whsec_${btoa('another secret of some length')}`;
const body = JSON.stringify({
  type: 'policy.matched',
  timestamp: '2026-01-01T00:00:00Z',
  data: { policies: [{ policyId: 'p' }] },
});

describe('Webhooks', () => {
  it('creates the signature of the example in the Standard Webhooks specification', async () => {
    const text = '{"test": 2432232314}';
    const timestamp = new Date(1_614_265_330_000);
    const headers = await webhooks.sign(text, secret, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('unwraps its own deliveries from text, bytes, Headers or a record in any letter case', async () => {
    const headers = await webhooks.sign(body, secret);
    const event = await webhooks.unwrap(body, headers, secret);
    expect(event).toEqual(JSON.parse(body));
    expect(event.type === 'policy.matched' && event.data.policies[0]?.policyId).toBe('p');
    expect(await webhooks.unwrap(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(
      event,
    );
    const shouted = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    expect(await webhooks.unwrap(body, shouted, secret)).toEqual(event);
  });

  it('accepts several secrets and several signatures during a rotation', async () => {
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
    ['a signature that is not base64', { signature: 'v1,***' }],
    ['a truncated signature', { signature: 'v1,g0hM9SsE' }],
    ['no signature at all', { signature: '' }],
    ['a timestamp that is not an integer', { timestamp: '1e9' }],
  ])('rejects %s', async (_case, { text = body, id, timestamp, signature }: Record<string, string>) => {
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
    'rejects a delivery with a clock difference of %d ms, and accepts it with a larger tolerance',
    async (offsetMs) => {
      const headers = await webhooks.sign(body, secret, { timestamp: new Date(nowMs + offsetMs) });
      await expect(webhooks.unwrap(body, headers, secret)).rejects.toThrow(/300 seconds/);
      await expect(webhooks.unwrap(body, headers, secret, { toleranceSeconds: 400 })).resolves.toBeDefined();
    },
  );

  it.each([Number.NaN, -1, '300', null])(
    'rejects a tolerance of %s, which would allow replays',
    async (wrong) => {
      const toleranceSeconds = wrong as number;
      const headers = await webhooks.sign(body, secret, { timestamp: new Date(0) });
      await expect(webhooks.unwrap(body, headers, secret, { toleranceSeconds })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(
          `toleranceSeconds must be a non-negative number of seconds, got ${typeof wrong === 'string' ? JSON.stringify(wrong) : wrong}`,
        ),
      });
    },
  );

  it.each([0, Infinity])('accepts a tolerance of %d', async (toleranceSeconds) => {
    const headers = await webhooks.sign(body, secret);
    await expect(webhooks.unwrap(body, headers, secret, { toleranceSeconds })).resolves.toBeDefined();
  });

  it.each(['not json', '[]', 'null', '{"type":7}'])(
    'rejects a signed body that is not an event: %s',
    async (text) => {
      const headers = await webhooks.sign(text, secret);
      await expect(webhooks.unwrap(text, headers, secret)).rejects.toThrow(/is not an event/);
    },
  );

  it.each(['', 'whsec_', 'whsec_***', [], [secret, undefined as never]])(
    'rejects the secret %j',
    async (wrong) => {
      const headers = await webhooks.sign(body, secret);
      await expect(webhooks.unwrap(body, headers, wrong)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    },
  );

  it('rejects an already parsed body', async () => {
    const headers = await webhooks.sign(body, secret);
    await expect(webhooks.unwrap(JSON.parse(body), headers, secret)).rejects.toThrow(/must be the raw text/);
  });
});
