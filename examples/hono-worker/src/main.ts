// An agent behind an HTTP endpoint, as a serverless worker: no disk, no shutdown, many concurrent requests in one
// instance. A platform deploys `worker.ts`; this program calls it like a platform with `waitUntil`, and like one that
// freezes the instance after the response.
import { Actlog } from '@actlog/client';
import { startServer } from '@actlog/server';
import worker, { type Bindings, handle, recorderOf } from './worker.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const { apiKey } = await server.admin.keys.create('default', { name: 'worker', scopes: ['ingest'] });
const bindings: Bindings = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: apiKey };

function question(chat: string, orderId: string): Request {
  return new Request(`https://shop.example/chats/${chat}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ orderId }),
  });
}
const orderIds = ['B-1', 'B-7', 'B-3', 'B-17', 'B-5', 'B-27', 'B-8', 'B-37'];

// A platform with `waitUntil`: eight concurrent requests. The instance lives until their background work is done.
const left: Promise<unknown>[] = [];
const context = {
  waitUntil: (promise: Promise<unknown>) => left.push(promise),
  passThroughOnException() {},
  props: {},
};
const answers = await Promise.all(
  orderIds.map(async (orderId) =>
    (await worker.fetch(question(`chat-${orderId}`, orderId), bindings, context)).json(),
  ),
);
for (const { answer } of answers as { answer: string }[]) console.log(answer);
await Promise.all(left);
const { pending: forgotten } = recorderOf(bindings).stats();

// A platform without `waitUntil`: the response is delayed until the events are delivered.
await handle(question('chat-frozen', 'B-47'), bindings);

const { recorded, pending, dropped } = recorderOf(bindings).stats();
console.log(`\n${recorded} calls recorded by one instance, ${pending} pending, ${dropped} dropped:`);
let mixed = 0;
for await (const { id, eventCount, toolNames = [] } of client.sessions.list()) {
  console.log(`  ${id.padEnd(12)} ${eventCount}  ${toolNames.join(', ')}`);
  const isLost = id === 'chat-frozen' || id.endsWith('7');
  if (toolNames.join() !== (isLost ? 'find_order,open_claim' : 'find_order')) mixed += 1;
}
if (recorded !== 14 || forgotten + pending + dropped + mixed > 0) {
  console.error(
    `Expected 14 calls, each delivered and in its own session: ${forgotten + pending} were left behind, ${mixed} sessions are wrong.`,
  );
  process.exitCode = 1;
}
await recorderOf(bindings).close();
await server.close();
