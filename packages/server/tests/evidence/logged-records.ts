import {
  httpLog,
  type LogReport,
  type RecordToVerify,
  type TrustPolicy,
  trustPolicy,
  verifyLog,
} from '@actlog/log';
import { parseExactJson } from '@actlog/protocol';
import { expect, vi } from 'vitest';
import type { TestServer } from '../test-server.ts';

/** A line of the feed. */
export interface FeedLine extends RecordToVerify {
  readonly index: number;
}

/** Returns a response to the server with the test's key. */
export function get({ server, apiKey }: TestServer, path: string): Promise<Response> {
  return fetch(new URL(path, server.url), { headers: { authorization: `Bearer ${apiKey}` } });
}

/** Returns the records of the feed. */
export async function feed(server: TestServer, query = ''): Promise<FeedLine[]> {
  const response = await get(server, `/server/v1/feed${query}`);
  expect(response.status).toBe(200);
  const text = await response.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseExactJson(line) as FeedLine);
}

/** Returns the records of the feed once they have as many of a kind. */
export async function logged(server: TestServer, kind: string, count: number): Promise<FeedLine[]> {
  return vi.waitFor(
    async () => {
      const records = await feed(server);
      expect(records.filter((record) => record.kind === kind)).toHaveLength(count);
      return records;
    },
    { timeout: 20_000, interval: 50 },
  );
}

/** Returns the policy that trusts the key of a server's log. */
export async function policyOf(server: TestServer, tenant = server.tenant): Promise<TrustPolicy> {
  const response = await fetch(new URL(`/log/${encodeURIComponent(tenant)}/key`, server.server.url));
  const [key = ''] = (await response.text()).split('\n');
  return trustPolicy(key);
}

/** Verifies the log of a server, with all records of its feed. */
export async function verifyServer(server: TestServer, policy?: TrustPolicy): Promise<LogReport> {
  return verifyLog(httpLog(`${server.server.url}/log/${encodeURIComponent(server.tenant)}`), {
    policy: policy ?? (await policyOf(server)),
    records: await feed(server),
    isComplete: true,
  });
}
