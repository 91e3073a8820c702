import { setFlagsFromString } from 'node:v8';
import type { ServerOptions } from '../configuration.ts';
import { type RunningServer, startWithLastingKeys } from '../start-server.ts';
import { isPostgresUrl, redactedDatabase } from '../storage/database-address.ts';

/** Quotes a text as one word for a shell. */
function quoted(text: string): string {
  return /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the command that creates a key for an agent, without the address of PostgreSQL, which may contain a password.
 */
function createKeyHint({ database = ':memory:', tenant = 'default' }: ServerOptions): string {
  if (database === ':memory:')
    return 'set ACTLOG_ADMIN_KEY, because commands cannot reach a database in memory';
  const isFound = database === 'actlog.db' || isPostgresUrl(database);
  const flags = [
    ...(isFound ? [] : [` --database ${quoted(database)}`]),
    ...(tenant === 'default' ? [] : [` --tenant ${quoted(tenant)}`]),
  ];
  return `create one: npx actlog keys create NAME --scopes ingest --agents 'NAME*'${flags.join('')}`;
}

/** Returns the agents that the agents' key may act as, and how to bind it if it is bound to none. */
function boundTo({ agents }: ServerOptions): string {
  if (agents === undefined || agents === null) return "any agent; --agents 'billing*' binds it";
  return String(agents).split(',').join(', ');
}

/**
 * Returns the lines that show where the server listens and how to use it. Agents get a separate key, which cannot
 * approve actions. Keys that the server would refuse are left out.
 */
function startMessage(settings: ServerOptions, { url, apiKey, agentKey }: RunningServer): string[] {
  const isEverywhere = settings.host === '0.0.0.0' || settings.host === '::';
  const isShown = settings.apiKey === undefined && settings.acceptTestKeys !== false;
  const noKey =
    settings.apiKey === undefined
      ? `none, because test keys are not accepted; ${createKeyHint(settings)}`
      : 'as configured';
  return [
    `actlog listens on ${url}${isEverywhere ? ', and on the other addresses of this machine' : ''}`,
    ...(isShown
      ? [
          `  agents    ${agentKey}   records and checks as ${boundTo(settings)}`,
          `  admin     ${apiKey}   does everything`,
        ]
      : [`  API key   ${noKey}`]),
    // The browser does not send the part after #, so no log or proxy sees the key.
    ...(settings.console === false ? [] : [`  console   ${url}/console/${isShown ? `#key=${apiKey}` : ''}`]),
    ...(settings.docs === false ? [] : [`  docs      ${url}/docs`]),
    `  database  ${redactedDatabase(settings.database ?? ':memory:')}`,
    '',
    `  export ACTLOG_BASE_URL=${url}`,
    ...(isShown ? [`  export ACTLOG_API_KEY=${agentKey}`] : []),
  ];
}

/**
 * Keeps V8 from allocating request objects in the old generation. Some kinds of object live as long as a connection in
 * one place and as long as a request in another. If V8 first sees the long-lived ones, it pretenures all of that kind,
 * and each keeps a finished request alive until a full collection. Such a process stays slower until it ends.
 */
function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Starts the server, prints its addresses, and stops it on SIGINT or SIGTERM. */
export async function runServer(settings: ServerOptions): Promise<void> {
  keepRequestsYoung();
  const server = await startWithLastingKeys(settings);
  process.stderr.write(`${startMessage(settings, server).join('\n')}\n`);
  const stop = (): Promise<void> =>
    server.close().catch((error: unknown) => {
      process.stderr.write(`The server did not stop cleanly: ${(error as Error).message}\n`);
      process.exitCode = 1;
    });
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
