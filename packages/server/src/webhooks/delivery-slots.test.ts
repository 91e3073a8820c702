import { expect, test } from 'vitest';
import { type Attempt, DeliverySlots, SlowWebhooks } from './delivery-slots.ts';

/** Returns `count` attempts, four per webhook and eight per tenant. */
function attempts(count: number): Attempt[] {
  return Array.from({ length: count }, (_, index) => ({
    tenantId: Math.floor(index / 8),
    channelId: `nch_${Math.floor(index / 4)}`,
  }));
}

function slowOnes(count: number): SlowWebhooks {
  const slow = new SlowWebhooks();
  for (const { channelId } of attempts(count)) slow.record(channelId, 1000);
  return slow;
}

test('limits attempts to slow webhooks and leaves all other slots free', () => {
  const slow = slowOnes(24);
  const slots = new DeliverySlots(attempts(16), slow);
  expect(slots.room).toBe(32);
  expect(slots.busy.channelIds).toEqual(slow.ids);
  expect(slots.take(2, 'nch_4')).toBe(false);
  expect(slots.take(2, 'nch_new')).toBe(true);
  expect(new DeliverySlots(attempts(15), slow).take(2, 'nch_4')).toBe(true);
});

test('limits fast and slow attempts together', () => {
  expect(new DeliverySlots(attempts(32), new SlowWebhooks()).room).toBe(0);
  expect(new DeliverySlots(attempts(120), slowOnes(120)).room).toBe(8);
  expect(new DeliverySlots(attempts(128), slowOnes(128)).room).toBe(0);
});

test('counts a webhook as slow until an attempt is fast', () => {
  const slow = new SlowWebhooks();
  slow.recordInProgress('nch_0', 1000, 1999);
  expect(slow.ids).toEqual([]);
  slow.recordInProgress('nch_0', 1000, 2000);
  expect(slow.has('nch_0')).toBe(true);
  slow.record('nch_0', 999);
  expect(slow.has('nch_0')).toBe(false);
});

test('remembers a limited number of slow webhooks', () => {
  const slow = new SlowWebhooks();
  for (let index = 0; index <= 1000; index += 1) slow.record(`nch_${index}`, 1000);
  expect([slow.ids.length, slow.has('nch_0'), slow.has('nch_1000')]).toEqual([1000, false, true]);
});
