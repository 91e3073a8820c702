import type { Storage } from '../storage/storage.ts';
import type { DeploymentSecret } from './deployment-secret.ts';

/**
 * Makes sure that all servers of a shared database have the same secret; with another one, a server could read
 * neither the cursors that the others give out nor the secrets of webhooks.
 *
 * @throws Error when the database was set up with another secret.
 */
export async function checkSecret(storage: Storage, secret: DeploymentSecret): Promise<void> {
  if (!storage.isShared) return;
  const known = await storage.writeAcross('administer', async ({ db }) => {
    await db
      .insertInto('deployment')
      .values({ name: 'secret', value: secret.fingerprint })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return db.selectFrom('deployment').select('value').where('name', '=', 'secret').executeTakeFirst();
  });
  if (known?.value === secret.fingerprint) return;
  throw new Error(
    'The database was set up with another secret. Give this server the "secret" (ACTLOG_SECRET) that the others have.',
  );
}
