import {
  type Actlog,
  APIError,
  AuthenticationError,
  PermissionDeniedError,
  RateLimitError,
} from '@actlog/client';
import { type Check, type Facts, found, type Outcome, ok, readKeyIdentity } from '../check.ts';
import { known } from '../known.ts';

/** Time before the end of a key from which on it is reported, in milliseconds. */
const soonMs = 7 * 86_400_000;

/** Check that the service accepts the key. It is sent only here and later, after the service was identified. */
export const key: Check = {
  id: 'key',
  title: 'Key accepted',
  requires: ['service', 'api-key'],
  async run(facts) {
    const client = known(facts.client);
    const refusal = await listOneSession(client, facts);
    if (refusal) return refusal;
    const identity = await readKeyIdentity(client);
    if (!identity) return ok('by the service');
    facts.identity = identity;
    const { name, tenant, keyId, expiresAt } = identity;
    if (expiresAt !== undefined && Date.parse(expiresAt) - Date.now() < soonMs) {
      return found('key-expires-soon', { time: expiresAt, keyId });
    }
    return ok(`"${name}" of the tenant "${tenant}"`);
  },
};

/** Returns the reason for which the service refuses the key, and notes if it may read. */
async function listOneSession(client: Actlog, facts: Facts): Promise<Outcome | undefined> {
  try {
    await client.sessions.list({ limit: 1 });
    facts.canRead = true;
    return undefined;
  } catch (error) {
    if (error instanceof AuthenticationError) return found('key-rejected', {});
    if (error instanceof RateLimitError) {
      return found('key-throttled', { seconds: Math.ceil((error.retryAfterMs ?? 1000) / 1000) });
    }
    if (error instanceof PermissionDeniedError) {
      facts.canRead = false;
      return undefined;
    }
    if (error instanceof APIError) return found('service-unavailable', { status: error.status });
    throw error;
  }
}
