// An agent that records as many events as its first argument says, writes their ids to the file of the second, and is
// killed before it sends them.
import { writeFileSync } from 'node:fs';
import { Recorder } from '@actlog/recorder';

const [, , count, file = ''] = process.argv;
const recorder = new Recorder();
const ids = Array.from({ length: Number(count) }, (_, index) =>
  recorder.record({
    toolName: `tool ${index}`,
    arguments: { secret: 'never shown' },
    responseStatus: 200,
    sessionId: 's',
  }),
);
writeFileSync(file, ids.join('\n'));
process.kill(process.pid, 'SIGKILL');
