import type { Storage } from '../storage/storage.ts';
import type { DeploymentSecret } from './deployment-secret.ts';

/**
 * Checks that all servers of a shared database have the same secret. With another secret, a server could read neither
 * cursors from other servers nor secrets of webhooks.
 *
 * @throws Error when the database was set up with another secret.
 */
export async function checkSecret(storage: Storage, secret: DeploymentSecret): Promise<void> {
  if (!storage.isShared) return;
  const stored = await storage.writeAcross('administer', async ({ db }) => {
    await db
      .insertInto('deployment')
      .values({ name: 'secret', value: secret.fingerprint })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return db.selectFrom('deployment').select('value').where('name', '=', 'secret').executeTakeFirst();
  });
  if (stored?.value === secret.fingerprint) return;
  throw new Error(
    'The database was set up with another secret. Use the "secret" (ACTLOG_SECRET) of the other servers.',
  );
}
