import { expect, test } from 'vitest';
import { Shares, type Try } from './shares.ts';
import { SlowWebhooks } from './slow-webhooks.ts';

/** So many tries, four to a webhook and eight of a tenant. */
function tries(count: number): Try[] {
  return Array.from({ length: count }, (_, index) => ({
    tenantId: Math.floor(index / 8),
    channelId: `nch_${Math.floor(index / 4)}`,
  }));
}

function slowOnes(count: number): SlowWebhooks {
  const slow = new SlowWebhooks();
  for (const { channelId } of tries(count)) slow.note(channelId, 1000);
  return slow;
}

test('tries to slow webhooks leave all the room to the others, and get a share only', () => {
  const slow = slowOnes(24);
  const shares = new Shares(tries(16), slow);
  expect(shares.room).toBe(32);
  expect(shares.busy.channelIds).toEqual(slow.ids);
  expect(shares.take(2, 'nch_4')).toBe(false);
  expect(shares.take(2, 'nch_new')).toBe(true);
  expect(new Shares(tries(15), slow).take(2, 'nch_4')).toBe(true);
});

test('of quick and slow tries together there is an end', () => {
  expect(new Shares(tries(32), new SlowWebhooks()).room).toBe(0);
  expect(new Shares(tries(120), slowOnes(120)).room).toBe(8);
  expect(new Shares(tries(128), slowOnes(128)).room).toBe(0);
});

test('a webhook is slow until a try of it is quick', () => {
  const slow = new SlowWebhooks();
  slow.noteUnderWay('nch_0', 1000, 1999);
  expect(slow.ids).toEqual([]);
  slow.noteUnderWay('nch_0', 1000, 2000);
  expect(slow.has('nch_0')).toBe(true);
  slow.note('nch_0', 999);
  expect(slow.has('nch_0')).toBe(false);
});

test('only so many slow webhooks are remembered', () => {
  const slow = new SlowWebhooks();
  for (let index = 0; index <= 1000; index += 1) slow.note(`nch_${index}`, 1000);
  expect([slow.ids.length, slow.has('nch_0'), slow.has('nch_1000')]).toEqual([1000, false, true]);
});
