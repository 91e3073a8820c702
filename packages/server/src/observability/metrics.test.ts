import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestDurations } from './metrics.ts';

test('has the same output as a histogram of prom-client', async () => {
  const registry = new Registry();
  const durations = new RequestDurations(registry);
  const expected = new Registry();
  const histogram = new Histogram({
    name: 'actlog_http_request_duration_seconds',
    help: 'Duration of requests by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [expected],
  });
  expect(await registry.metrics()).toBe(await expected.metrics());
  for (const [method, route, status, durationMs] of [
    ['POST', '/v1/events', 202, 1],
    ['POST', '/v1/events', 202, 0],
    ['POST', '/v1/events', 202, 64],
    ['POST', '/v1/events', 400, 31_000],
    ['GET', '/v1/sessions/:id', 200, 30_000],
    ['GET', '/v1/"quoted"\n', 404, 2.5],
  ] as const) {
    durations.observe(method, route, status, durationMs);
    histogram.labels(method, route, String(status)).observe(durationMs / 1000);
  }
  expect(await registry.metrics()).toBe(await expected.metrics());
});
