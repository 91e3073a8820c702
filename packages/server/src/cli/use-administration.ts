import { Administration } from '../administration/administration.ts';
import { historySetting } from '../history/click-house.ts';
import { History } from '../history/history.ts';
import { openStorage } from '../open-storage.ts';
import { isPostgresUrl } from '../storage/database-address.ts';
import { storedEvents } from '../storage/event-reader.ts';
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
  const history = historyOf(storage);
  try {
    const secret = () => secretOf(storage, database);
    await work(new Administration(storage, secret, undefined, quotas, history?.events));
  } finally {
    await history?.close();
    await storage.close();
  }
}

/** Returns the history of the database's servers, whose address is in the environment. */
function historyOf(storage: Storage): History | undefined {
  const given = secretFrom(process.env, 'ACTLOG_HISTORY');
  if (given === undefined) return undefined;
  const { data, error } = historySetting.safeParse(given);
  if (error) throw new Error(`ACTLOG_HISTORY: ${error.issues[0]?.message}.`);
  return new History({ address: data, storage, stored: storedEvents(storage) });
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
