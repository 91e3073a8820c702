// Callers of one tenant. Each sends its next request as soon as it has a response, until stopped.
import { Agent } from 'node:http';
import { setPriority } from 'node:os';
import { send } from './send.ts';
import { type WorstTenant, worstRequests } from './worst-tenants.ts';

const [url = '', apiKey = '', tenant, connections, ...policyIds] = process.argv.slice(2);
// In production, callers run on other machines. They must not take processor time from the server or the measurement.
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
      // Reopens a connection that the server has closed.
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
  // The next round begins after the last response.
  await Promise.all(calls);
  process.send?.('idle');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
