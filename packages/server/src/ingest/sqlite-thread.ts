// The code of the thread that writes to an SQLite file, loaded by sqlite-worker.ts.
import type { MessagePort } from 'node:worker_threads';
import { Kysely } from 'kysely';
import type { Tables } from '../storage/schema.ts';
import {
  SqliteConnection,
  type SqliteConnectionOptions,
  sqliteDialect,
} from '../storage/sqlite/sqlite-connection.ts';
import type { WriterRequest, WriterResponse } from '../storage/sqlite/sqlite-writer.ts';
import { Recording, type RecordingOptions } from './recording.ts';

/** Data for the thread. */
export interface WriterData extends SqliteConnectionOptions {
  readonly recording: RecordingOptions;
}

/** Statements of the main thread that change rows cached by the recording. */
const changesSessions = /^(?:insert|update|delete)[^"]*"(?:sessions|session_risk|agent_baselines)"/;

/** Opens the database, and responds to the requests of a `SqliteWriter` in order. @throws when it cannot be opened. */
export function serveWriter(port: MessagePort, data: WriterData): void {
  const connection = new SqliteConnection(data);
  const database = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
  const recording = new Recording(database, data.recording, dropOutdatedCaches);
  let dataVersion = connection.dataVersion();

  async function handle(request: WriterRequest): Promise<unknown> {
    switch (request.kind) {
      case 'execute':
        if (changesSessions.test(request.sql)) recording.forget();
        return connection.execute(request.sql, request.parameters);
      case 'record':
        return JSON.stringify(await recording.record(JSON.parse(request.groupsJson)));
      case 'score':
        return recording.scoreSessions(request.behind);
      case 'log':
        return recording.appendToLog(request.tenantId, request.options);
      case 'close':
        return connection.close();
    }
  }

  function dropOutdatedCaches(): void {
    const version = connection.dataVersion();
    if (version !== dataVersion) recording.forget();
    dataVersion = version;
  }

  async function respond(request: WriterRequest): Promise<void> {
    let response: WriterResponse;
    try {
      response = { result: await handle(request) };
    } catch (error) {
      const { message, errcode } = error as Error & { errcode?: number };
      response = { error: { message, errcode } };
    }
    port.postMessage(response);
  }

  port.on('message', (request: WriterRequest) => void respond(request));
}
