import { type Actlog, PermissionDeniedError } from '@actlog/client';
import { type Check, found, ok } from '../check.ts';
import { known } from '../known.ts';

/** Check that an agent can use the key: it needs the scope `ingest`. */
export const permissions: Check = {
  id: 'permissions',
  title: 'Permissions',
  requires: ['key'],
  async run({ client, identity, canRead }) {
    const scopes = identity?.scopes ?? (await tryScopes(known(client), canRead));
    if (!scopes.includes('ingest')) return found('key-without-ingest', {});
    return ok(scopes.join(', '));
  },
};

/** Finds out about `ingest` by a check that leaves nothing behind. `manage` and `decide` cannot be tried by reading. */
async function tryScopes(client: Actlog, canRead = false): Promise<string[]> {
  const read = canRead ? ['read'] : [];
  const action = { toolName: 'actlog-doctor', argumentsHash: 'none' };
  try {
    await client.policies.check({ agentId: 'actlog-doctor', action }, { dryRun: true });
    return ['ingest', ...read];
  } catch (error) {
    if (error instanceof PermissionDeniedError) return read;
    throw error;
  }
}
