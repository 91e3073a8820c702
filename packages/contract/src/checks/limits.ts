import { parseRetryAfter } from '@actlog/client';
import { headers } from '@actlog/protocol';
import { type Check, lastCheck, safeCheck } from '../check.ts';
import { type ApiResponse, describeResponse, succeeded } from '../http/api-response.ts';
import { isRetried } from '../http/repeat.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Number of concurrent requests in a burst. */
const atOnce = 10;

/** Number of times that another key may be over its own rate while this one is. */
const rounds = 3;

/** Sends requests until one returns 429, up to the limit of the run. */
async function provoked(run: Run): Promise<ApiResponse> {
  const { burst } = run.settings;
  for (let sent = 0; sent < burst; sent += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, burst - sent) }, () =>
      run.probe.call('sessions.list', { query: { limit: 1 }, once: true }),
    );
    const limited = (await Promise.all(batch)).find(({ status }) => status === 429);
    if (limited) return limited;
  }
  return skip(
    burst === 0
      ? 'the rate limit is not tested (set --burst to the number of requests to send)'
      : `none of ${burst} requests returned 429`,
  );
}

/** Checks of rates and versions, and of behavior that the specification leaves open. */
export const limitChecks: readonly Check[] = [
  safeCheck('LIM-01', 'another key while this one is over its rate', async (run) => {
    const key = run.secondTenantKey();
    const { clock, maxRetryAfterMs, signal } = run.settings;
    // The other key may lawfully be over its own rate: it must pass once it has waited as it was told.
    for (let round = 1; ; round += 1) {
      await provoked(run);
      const response = await run.probe.call('sessions.list', { key, query: { limit: 1 }, once: true });
      if (succeeded(response)) return;
      const askedMs = parseRetryAfter(response.headers.get(headers.retryAfter), Date.now()) ?? 1000;
      if (!isRetried(response.status) || round === rounds || askedMs > maxRetryAfterMs)
        fail(`${describeResponse(response)} for a key that sent almost no requests`);
      await clock.sleep(askedMs, signal);
    }
  }),
  lastCheck('LIM-02', 'every 429 of the run', async (run) => {
    if (!run.probe.responses.some(({ status }) => status === 429)) await provoked(run);
    for (const response of run.probe.responses.filter(({ status }) => status === 429)) {
      const value = response.headers.get(headers.retryAfter);
      if (value === null) fail(`${describeResponse(response)}, without Retry-After`);
      if (parseRetryAfter(value, Date.now()) === undefined)
        fail(`${describeResponse(response)}, with Retry-After "${value}"`);
    }
  }),
  lastCheck('LIM-04', 'headers about the rate', async ({ probe }) => {
    const names = new Set(probe.responses.flatMap(({ headers: all }) => [...all.keys()]));
    return [...names].filter((name) => name.includes('ratelimit')).join(', ') || 'none';
  }),
  safeCheck('VER-01', 'GET /v1/sessions', async ({ probe }) => {
    const response = await probe.call('sessions.list', { query: { limit: 1 } });
    if ([404, 405, 501].includes(response.status)) fail(describeResponse(response));
  }),
  lastCheck('VER-02', 'headers about deprecation', async ({ probe }) => {
    const names = ['deprecation', 'sunset'].filter((name) =>
      probe.responses.some((response) => response.headers.has(name)),
    );
    return names.join(', ') || 'none';
  }),
  safeCheck('OUT-01', 'deliveries', async () => 'not checked: the specification does not define them'),
];
