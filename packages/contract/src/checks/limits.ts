import { parseRetryAfter } from '@actlog/client';
import { headers } from '@actlog/protocol';
import { type Check, lastCheck, safeCheck } from '../check.ts';
import { type Answer, succeeded, told } from '../http/answer.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Requests that are under way at the same time in a burst. */
const atOnce = 10;

/** Sends requests until one is answered with 429, as many as the run may. */
async function provoked(run: Run): Promise<Answer> {
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
      ? 'the rate limit is not provoked (--burst says how many requests may be sent for it)'
      : `none of ${burst} requests was answered with 429`,
  );
}

/** Rates, versions, and what is left open. */
export const limitChecks: readonly Check[] = [
  safeCheck('LIM-01', 'another key while this one is over its rate', async (run) => {
    const key = run.secondTenantKey();
    await provoked(run);
    const answer = await run.probe.call('sessions.list', { key, query: { limit: 1 }, once: true });
    if (!succeeded(answer)) fail(`${told(answer)} for a key that had sent hardly anything`);
  }),
  lastCheck('LIM-02', 'every 429 of the run', async (run) => {
    if (!run.probe.answers.some(({ status }) => status === 429)) await provoked(run);
    for (const answer of run.probe.answers.filter(({ status }) => status === 429)) {
      const value = answer.headers.get(headers.retryAfter);
      if (value === null) fail(`${told(answer)}, without Retry-After`);
      if (parseRetryAfter(value, Date.now()) === undefined)
        fail(`${told(answer)}, with Retry-After "${value}"`);
    }
  }),
  lastCheck('LIM-04', 'headers about the rate', async ({ probe }) => {
    const names = new Set(probe.answers.flatMap(({ headers: all }) => [...all.keys()]));
    return [...names].filter((name) => name.includes('ratelimit')).join(', ') || 'none';
  }),
  safeCheck('VER-01', 'GET /v1/sessions', async ({ probe }) => {
    const answer = await probe.call('sessions.list', { query: { limit: 1 } });
    if ([404, 405, 501].includes(answer.status)) fail(told(answer));
  }),
  lastCheck('VER-02', 'headers about deprecation', async ({ probe }) => {
    const names = ['deprecation', 'sunset'].filter((name) =>
      probe.answers.some((answer) => answer.headers.has(name)),
    );
    return names.join(', ') || 'none';
  }),
  safeCheck('OUT-01', 'deliveries', async () => 'not looked at: the specification says nothing about them'),
];
