// One subject in its own process: `SUBJECT URL`. Every message of the parent is a number of calls; the response is their
// cost.
import { measureCalls } from './measured-calls.ts';
import { createSubject } from './subjects.ts';

const [name = '', url = ''] = process.argv.slice(2);
const { call, flush } = await createSubject(name, url);
let made = 0;

process.on('message', async (calls: number) => {
  const first = made;
  made += calls;
  process.send?.(await measureCalls((number) => call(first + number), flush, calls));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
