import { agents, isAgentName } from './dialects/dialect.ts';
import { flush } from './flush.ts';

const [agent, spoolFolder] = process.argv.slice(2);
if (!isAgentName(agent) || spoolFolder === undefined) {
  throw new Error(`Usage: flush-worker ${Object.keys(agents).join('|')} SPOOL_FOLDER`);
}
await flush(agent, spoolFolder);
