// What the writer's thread does, loaded by sqlite-worker.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { Recording } from './ingest/recording.ts';
import type { WriterAnswer, WriterRequest } from './sqlite-writer.ts';
import type { Tables } from './storage/schema.ts';
import { SqliteConnection, type SqliteConnectionOptions } from './storage/sqlite-connection.ts';
import { sqliteDialect } from './storage/sqlite-dialect.ts';

const connection = new SqliteConnection(workerData as SqliteConnectionOptions);
const database = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
const recording = new Recording(database, forgetWhatOthersChanged);
let dataVersion = connection.dataVersion();

/** A statement of the other thread that changes what the recording keeps at hand. */
const changesSessions = /^(?:insert|update|delete)[^"]*"(?:sessions|session_risk|agent_baselines)"/;

async function answer(request: WriterRequest): Promise<unknown> {
  switch (request.kind) {
    case 'execute':
      if (changesSessions.test(request.sql)) recording.forget();
      return connection.execute(request.sql, request.parameters);
    case 'record':
      return JSON.stringify(await recording.record(JSON.parse(request.groupsJson)));
    case 'settle':
      return recording.settle(request.behind);
    case 'close':
      await database.destroy();
      return undefined;
  }
}

function forgetWhatOthersChanged(): void {
  const version = connection.dataVersion();
  if (version !== dataVersion) recording.forget();
  dataVersion = version;
}

async function respond(request: WriterRequest): Promise<void> {
  let sent: WriterAnswer;
  try {
    sent = { result: await answer(request) };
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    sent = { error: { message, errcode } };
  }
  parentPort?.postMessage(sent);
}

parentPort?.on('message', (request: WriterRequest) => void respond(request));
