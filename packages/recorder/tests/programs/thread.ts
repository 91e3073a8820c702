// An agent in a worker thread: records some calls, reports their ids, and continues until it is terminated.
import { parentPort, workerData } from 'node:worker_threads';
import { Recorder } from '../../src/index.ts';

const { url, spool, count } = workerData as { url: string; spool: string; count: number };
const recorder = new Recorder({
  apiKey: 'al_test_recorder',
  baseURL: url,
  spoolDir: spool,
  onError: () => {},
});
const ids = Array.from({ length: count }, (_, index) =>
  recorder.record({ toolName: 'tool', arguments: { index }, responseStatus: 200 }),
);
parentPort?.postMessage(ids);
setInterval(() => {}, 1000);
