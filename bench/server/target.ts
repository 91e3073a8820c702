// A server process: `bare` validates and stores nothing, `actlog` is the real server, `unlogged` is one without entries
// in its log.
import { contract } from '@actlog/protocol/schemas';
import { startServer } from '@actlog/server';
import { fastify } from 'fastify';
import { BackgroundTasks } from '../../packages/server/src/background/background-tasks.ts';
import { LogSequencer } from '../../packages/server/src/evidence/log-sequencer.ts';

const [kind, database = ':memory:', settings = '{}'] = process.argv.slice(2);

async function bare(): Promise<{ url: string; apiKey: string }> {
  const app = fastify();
  app.post('/v1/events', async (request, reply) => {
    const { success, data } = contract['events.create'].body.safeParse(request.body);
    if (!success) return reply.code(400).send({ error: { code: 'VALIDATION_ERROR', message: 'invalid' } });
    return reply
      .code(202)
      .send({ eventId: data.eventId, receivedAt: new Date().toISOString(), warnings: [] });
  });
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), apiKey: 'none' };
}

if (kind === 'unlogged') LogSequencer.prototype.wake = () => {};

/** Tasks of the server by their names, to be run when they are measured and not when they are due. */
const tasks = new Map<string, (signal: AbortSignal) => Promise<unknown>>();
const { every } = BackgroundTasks.prototype;
BackgroundTasks.prototype.every = function (everyMs, name, work) {
  tasks.set(name, work);
  every.call(this, everyMs, name, work);
};

const { url, apiKey } =
  kind === 'bare'
    ? await bare()
    : await startServer({ database, docs: false, rateLimit: limit(), ...shared(), ...JSON.parse(settings) });

/** Common parts of servers that share a database. */
function shared() {
  return database.startsWith('postgres:') ? { secret: 'the same in all servers of this measurement' } : {};
}

/** Rate limit that counts requests but never rejects one. */
function limit() {
  return { requestsPerSecond: 1_000_000, burst: 10_000_000 };
}

process.on('message', async (question) => {
  if (question === 'cleanup') {
    await tasks.get('cleanup')?.(new AbortController().signal);
    process.send?.('cleanup');
  }
  if (question !== 'usage') return;
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  process.send?.({ ...process.cpuUsage(), ...process.memoryUsage(), sockets });
});
process.send?.({ url, apiKey });
