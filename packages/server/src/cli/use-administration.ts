import { Administration } from '../administration/administration.ts';
import { openStorage } from '../open-storage.ts';
import { isPostgresUrl } from '../storage/database-address.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { checkSecret, type DeploymentSecret, deploymentSecret } from '../tenants/deployment-secret.ts';
import { secretFrom } from './secret-variables.ts';

/** Options of `useAdministration`. */
export interface AdministrationUse {
  /** Quotas of the deployment. */
  readonly quotas?: DeploymentQuotas | undefined;
}

/** Opens a database, which a running server may also use, runs `work`, and closes it. */
export async function useAdministration(
  database: string,
  work: (admin: Administration) => unknown,
  { quotas }: AdministrationUse,
): Promise<void> {
  const storage = await openStorage({
    database,
    connections: 2,
    onProgress: (message) => process.stderr.write(`${message}\n`),
  });
  try {
    await work(new Administration(storage, () => secretOf(storage, database), undefined, quotas));
  } finally {
    await storage.close();
  }
}

/** Returns the secret of the database's servers, from the environment or else from the file beside the database. */
async function secretOf(storage: Storage, database: string): Promise<DeploymentSecret> {
  const given = secretFrom(process.env, 'ACTLOG_SECRET');
  if (given === undefined && isPostgresUrl(database)) {
    throw new Error(
      'The secret of the deployment is missing: set ACTLOG_SECRET, or ACTLOG_SECRET_FILE, to the secret of the servers.',
    );
  }
  const secret = deploymentSecret({ secret: given, database });
  await checkSecret(storage, secret);
  return secret;
}
