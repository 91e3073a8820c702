// One subject in a process of its own: `SUBJECT URL CALLS PAUSE_EVERY`, and the cost comes back as JSON.
import { measureCalls } from './measured-calls.ts';
import { createSubject } from './subjects.ts';

const [name = '', url = '', calls = '0', pauseEvery = '1'] = process.argv.slice(2);
const { call, flush } = await createSubject(name, url);
const cost = await measureCalls(call, flush, Number(calls), Number(pauseEvery));
process.send?.(cost);
process.disconnect?.();
