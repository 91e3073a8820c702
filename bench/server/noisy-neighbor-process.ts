// Callers of one tenant, each of which sends its next request as soon as it has a response, until they are stopped.
import { Agent } from 'node:http';
import { setPriority } from 'node:os';
import { send } from './send.ts';
import { type WorstTenant, worstRequests } from './worst-tenants.ts';

const [url = '', apiKey = '', tenant, connections, ...policyIds] = process.argv.slice(2);
// Callers run on other machines: what they do must not take the processor from the server and from what measures it.
setPriority(19);

const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const next = worstRequests(tenant as WorstTenant, policyIds);
let isOn = false;
let answered = 0;

async function call(): Promise<void> {
  while (isOn) {
    try {
      await send({ url, apiKey, agent, ...next() });
      answered += 1;
    } catch {
      // A connection that the server ended is opened again.
    }
  }
}

let calls: Promise<void>[] = [];

process.on('message', async (message) => {
  isOn = message === 'start';
  if (isOn) {
    answered = 0;
    calls = Array.from({ length: Number(connections) }, call);
    return;
  }
  process.send?.(answered);
  // The next round begins when what was sent last is answered.
  await Promise.all(calls);
  process.send?.('idle');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
