// An agent process that makes calls in a tight loop: `RECORDER URL CALLS END PROGRESS SPOOL`.
// After every call it writes the number of completed calls to the file PROGRESS.
import { openSync, writeSync } from 'node:fs';
import { Recorder } from '@actlog/recorder';
import { argumentsOf } from '../recorder/arguments.ts';
import type { Subject } from '../recorder/subject.ts';
import { createSubject } from '../recorder/subjects.ts';

/** Ways for the agent to end after its calls. */
export type End = 'flush' | 'natural' | 'exit' | 'wait';

const [name = '', url = '', calls = '0', end = 'flush', progress = '', spoolDir = ''] = process.argv.slice(2);

let dropped = 0;

function createOurs(): Subject {
  const recorder = new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: url,
    agentId: 'benchmark',
    spoolDir,
    onDrop: () => {
      dropped += 1;
      noteProgress();
    },
    onError: () => {},
  });
  return {
    call: (number) =>
      recorder.toolCall(
        {
          toolName: `call-${process.pid}-${number}`,
          arguments: argumentsOf(number),
          sessionId: `${process.pid}-${number % 20}`,
        },
        async () => 'ok',
      ),
    flush: () => recorder.flush({ timeoutMs: 120_000 }),
  };
}

const { call, flush } = name === 'actlog' ? createOurs() : await createSubject(`langchain-${name}`, url);
const note = new Uint32Array(2);
const noteFile = openSync(progress, 'w');
let made = 0;

function noteProgress(): void {
  note[0] = made;
  note[1] = dropped;
  writeSync(noteFile, note, 0, 8, 0);
}

noteProgress();
process.send?.('started');
for (let number = 0; number < Number(calls); number += 1) {
  await call(number);
  made = number + 1;
  noteProgress();
}
process.send?.('made');
process.disconnect?.();
if (end === 'exit') process.exit(0);
if (end === 'wait') setInterval(() => {}, 1000);
if (end === 'flush') {
  await flush();
  process.exit(0);
}
