import { setFlagsFromString } from 'node:v8';
import type { ServerOptions } from '../configuration.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { isPostgresUrl, shownDatabase } from '../storage/database-address.ts';

/** A text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** How to come by a key where no test key is made. An address of PostgreSQL may hold a password: it is not repeated. */
function wayToKey({ database = ':memory:', tenant = 'default' }: ServerOptions): string {
  if (database === ':memory:') return 'set ACTLOG_API_KEY, as no command reaches a database in memory';
  const isFound = database === 'actlog.db' || isPostgresUrl(database);
  const flags = [
    ...(isFound ? [] : [` --database ${quoted(database)}`]),
    ...(tenant === 'default' ? [] : [` --tenant ${quoted(tenant)}`]),
  ];
  return `make one: npx @actlog/server keys create NAME${flags.join('')}`;
}

/** Where the server is, and with which key it is reached, as lines. A key that would be refused is not shown. */
function greeting(settings: ServerOptions, { url, apiKey }: RunningServer): string[] {
  const isEverywhere = settings.host === '0.0.0.0' || settings.host === '::';
  const isShown = settings.apiKey === undefined && settings.acceptTestKeys !== false;
  const noKey =
    settings.apiKey === undefined
      ? `none, as test keys are not taken; ${wayToKey(settings)}`
      : 'as configured';
  return [
    `actlog listens on ${url}${isEverywhere ? ', and on the other addresses of this machine' : ''}`,
    `  API key   ${isShown ? apiKey : noKey}`,
    // What follows # stays in the browser: it signs in whoever opens the link, and no server or log learns the key.
    ...(settings.console === false ? [] : [`  console   ${url}/console/${isShown ? `#key=${apiKey}` : ''}`]),
    ...(settings.docs === false ? [] : [`  docs      ${url}/docs`]),
    `  database  ${shownDatabase(settings.database ?? ':memory:')}`,
    '',
    `  export ACTLOG_BASE_URL=${url}`,
    ...(isShown ? [`  export ACTLOG_API_KEY=${apiKey}`] : []),
  ];
}

/**
 * Some kinds of object live as long as a connection in one place and as long as a request in another. Where V8 sees the
 * first, it makes all of that kind as old objects, and one that is old keeps what it points to: whole requests, long
 * answered, are then copied by each collection until a full one comes. A process that begins so stays slower for good.
 */
function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Starts the server, says where it is, and stops it on SIGINT or SIGTERM. */
export async function serve(settings: ServerOptions): Promise<void> {
  keepRequestsYoung();
  const server = await startServer(settings);
  process.stderr.write(`${greeting(settings, server).join('\n')}\n`);
  const stop = (): void => {
    server.close().catch((error: unknown) => {
      process.stderr.write(`The server did not stop cleanly: ${(error as Error).message}\n`);
      process.exitCode = 1;
    });
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
