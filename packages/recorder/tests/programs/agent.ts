// An agent in a separate process: records what the environment specifies, prints the id of each event as soon as it is
// recorded, and ends as specified by MODE.
import { writeSync } from 'node:fs';
import { Recorder } from '../../src/index.ts';

const { MODE = 'natural', COUNT = '100', SINK_URL = '', SPOOL = '', LIMITS = '{}' } = process.env;

/** Prints a line synchronously, so that it is printed however the process ends. */
function print(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full until the test continues to read.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

const recorder = new Recorder({
  apiKey: 'al_test_agent',
  baseURL: SINK_URL,
  agentId: 'agent',
  ...(SPOOL === '' ? { spool: false } : { spoolDir: SPOOL }),
  onError: ({ message }) => console.error(message),
  onDrop: ({ event }) => print(`dropped ${event.eventId}`),
  ...JSON.parse(LIMITS),
});

function recordOne(index: number): void {
  const eventId = recorder.record({
    toolName: 'tool',
    arguments: { index },
    responseStatus: 200,
    sessionId: `session ${process.pid} ${index % 4}`,
  });
  print(`recorded ${eventId}`);
}

function recordForever(index = 0): void {
  recordOne(index);
  setImmediate(recordForever, index + 1);
}

if (MODE === 'forever') recordForever();
else for (let index = 0; index < Number(COUNT); index += 1) recordOne(index);

switch (MODE) {
  case 'observed':
    await recorder.toolCall({ toolName: 'tool', arguments: {} }, () => 'ran');
    break;
  case 'exit':
    process.exit(7);
    break;
  case 'exit-listener':
    process.on('exit', () => {
      for (const index of [-1, -2]) recordOne(index);
    });
    process.exit(7);
    break;
  case 'before-exit-listener': {
    let rest = 2;
    process.on('beforeExit', () => {
      if (rest > 0) setImmediate(recordOne, -rest);
      rest -= 1;
    });
    break;
  }
  case 'throw':
    throw new Error('the agent broke');
  case 'stay':
    setInterval(() => {}, 1000);
    print('ready');
    break;
  case 'own-handler':
    setInterval(() => {}, 1000);
    process.on('SIGTERM', () => process.exit(5));
    print('ready');
    break;
  case 'drain':
    print(`${JSON.stringify(await recorder.close())}`);
    break;
}
