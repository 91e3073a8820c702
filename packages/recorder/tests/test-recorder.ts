import { onTestFinished } from 'vitest';
import { Recorder, type RecorderOptions } from '../src/index.ts';
import { temporaryFolder } from './journal-fixture.ts';

/** Creates a recorder with its own spool, closed without waiting when the test ends. */
export function createRecorder(url: string, options: RecorderOptions = {}): Recorder {
  const recorder = new Recorder({
    apiKey: 'al_test_recorder',
    baseURL: url,
    agentId: 'agent',
    spoolDir: temporaryFolder(),
    onError: () => {},
    ...options,
  });
  onTestFinished(async () => {
    await recorder.close({ timeoutMs: 0 });
  });
  return recorder;
}

/** Records `count` calls over several sessions in turn and returns the ids of the events. */
export function recordMany(recorder: Recorder, count: number, sessions = 5): string[] {
  return Array.from({ length: count }, (_, index) =>
    recorder.record({
      toolName: `tool ${index}`,
      arguments: { index },
      responseStatus: 200,
      sessionId: `session ${index % sessions}`,
    }),
  );
}
