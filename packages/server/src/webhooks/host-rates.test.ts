import { expect, test } from 'vitest';
import { HostRates } from './delivery-slots.ts';

const rate = { requestsPerSecond: 10, burst: 2 };

function to(tenantId: number, host = 'hooks.example') {
  return { channelId: `nch_${tenantId}_${host}`, tenantId, host };
}

test('limits a host to its burst and then to its rate, across all webhooks', () => {
  const rates = new HostRates(rate);
  expect([to(1), to(2), to(1)].map((destination) => rates.take(destination, 0))).toEqual([true, true, false]);
  expect(rates.take(to(1, 'other.example'), 0)).toBe(true);
  expect(rates.delayMs(0)).toBe(100);
  expect(rates.take(to(1), 99)).toBe(false);
  expect(rates.take(to(1), 100)).toBe(true);
  expect(rates.delayMs(100)).toBeUndefined();
  // Unused capacity accumulates up to the burst only.
  const later = [1, 1, 1].map((tenantId) => rates.take(to(tenantId), 100_000));
  expect(later).toEqual([true, true, false]);
});

test('alternates between tenants that wait for a host', () => {
  const rates = new HostRates({ requestsPerSecond: 10, burst: 1 });
  expect([to(1), to(1), to(2), to(3)].map((destination) => rates.take(destination, 0))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  const turns: number[] = [];
  for (let nowMs = 100; nowMs <= 600; nowMs += 100) {
    const blocked = rates.blocked(nowMs);
    for (const tenantId of [1, 2, 3]) {
      const destination = to(tenantId);
      if (!blocked.includes(destination.channelId) && rates.take(destination, nowMs)) turns.push(tenantId);
    }
    // All of them have more to send.
    for (const tenantId of [1, 2, 3]) rates.take(to(tenantId), nowMs);
  }
  expect(turns).toEqual([1, 2, 3, 1, 2, 3]);
});

test('skips a tenant that has nothing more to send', () => {
  const rates = new HostRates({ requestsPerSecond: 10, burst: 1 });
  rates.take(to(1), 0);
  rates.take(to(1), 0);
  rates.take(to(2), 0);
  expect(rates.blocked(200)).toEqual([to(2).channelId]);
  expect(rates.blocked(2300)).toEqual([to(1).channelId]);
  expect(rates.take(to(2), 2300)).toBe(true);
});

test('keeps attempting after the clock was set back', () => {
  const rates = new HostRates(rate);
  for (let attempt = 0; attempt < 3; attempt += 1) rates.take(to(1), 3_600_000);
  rates.take(to(1), 0);
  expect(rates.delayMs(0)).toBeLessThanOrEqual(200);
});

test('does not delay anything without a rate', () => {
  const rates = new HostRates(undefined);
  expect(Array.from({ length: 1000 }, () => rates.take(to(1), 0)).every(Boolean)).toBe(true);
  expect(rates.blocked(0)).toEqual([]);
});
