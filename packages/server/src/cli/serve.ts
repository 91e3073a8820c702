import type { ServerOptions } from '../configuration.ts';
import { startServer } from '../start-server.ts';
import { shownDatabase } from '../storage/database-address.ts';

/** Starts the server, says where it is, and stops it on SIGINT or SIGTERM. */
export async function serve(settings: ServerOptions): Promise<void> {
  const server = await startServer(settings);
  const keyShown = settings.apiKey === undefined ? server.apiKey : 'as configured';
  process.stderr.write(
    [
      `actlog listens on ${server.url}`,
      `  API key   ${keyShown}`,
      `  docs      ${server.url}/docs`,
      `  database  ${shownDatabase(settings.database ?? ':memory:')}`,
      '',
      `  export ACTLOG_BASE_URL=${server.url}`,
      ...(settings.apiKey === undefined ? [`  export ACTLOG_API_KEY=${server.apiKey}`] : []),
      '',
    ].join('\n'),
  );
  const stop = (): void => {
    server.close().catch((error: unknown) => {
      process.stderr.write(`The server did not stop cleanly: ${(error as Error).message}\n`);
      process.exitCode = 1;
    });
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
