/**
 * A program that has a global dispatcher of its own, loads every package that uses undici, sends an event, and prints
 * which globals changed.
 *
 * Arguments: the program's own undici (none, `legacy` for what undici 6 sets, or the path of a copy), and when it is
 * loaded (`before` or `after` the event).
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

const [own = 'none', order = 'before'] = process.argv.slice(2);
const symbols = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));
const names = ['fetch', 'Request', 'Response', 'Headers', 'FormData', 'WebSocket', 'EventSource'];
const globals = () =>
  [...symbols, ...names].map((key) => Object.getOwnPropertyDescriptor(globalThis, key)).map(valuesOf);
const valuesOf = (descriptor: PropertyDescriptor | undefined) => [
  descriptor?.value,
  descriptor?.get,
  descriptor?.set,
  descriptor?.writable,
  descriptor?.configurable,
  descriptor?.enumerable,
];

const dispatched: string[] = [];
const service = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    const isEvent = request.url === '/v1/events';
    const body = isEvent
      ? { eventId: JSON.parse(text).eventId, receivedAt: new Date().toISOString(), warnings: [] }
      : {};
    response.writeHead(isEvent ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

/** Sets the program's dispatcher like its version of undici, and returns that version's `request`. */
function setUp(): ((url: string) => Promise<unknown>) | undefined {
  if (own === 'none') return undefined;
  const dispatch = (options: { path: string }, handler: { onError?(error: Error): void }) => {
    dispatched.push(options.path);
    queueMicrotask(() => handler.onError?.(new Error('mocked')));
    return true;
  };
  if (own === 'legacy') {
    Object.defineProperty(globalThis, symbols[0] as symbol, {
      value: { dispatch },
      writable: true,
      enumerable: false,
      configurable: false,
    });
    return undefined;
  }
  const undici = createRequire(import.meta.url)(own);
  undici.getGlobalDispatcher(); // a copy that found no dispatcher would throw from here on
  if (order === 'before') undici.setGlobalDispatcher(undici.getGlobalDispatcher());
  return undici.request;
}

const request = order === 'before' ? setUp() : undefined;
const before = globals();

const { Actlog } = await import('@actlog/client');
const { Recorder } = await import('@actlog/recorder');
await Promise.all([
  import('@actlog/gateway'),
  import('@actlog/hook'),
  import('@actlog/server'),
  import(new URL('../../../msw/src/node/index.ts', import.meta.url).href),
]);
const { Upstream } = await import(new URL('../../../gateway/src/http/upstream.ts', import.meta.url).href);
const options = { apiKey: 'al_test_host', baseURL: origin };
await new Actlog(options).events.create({ agentId: 'a', sessionId: 's', category: 'note', payload: {} });
const recorder = new Recorder({ ...options, agentId: 'a', spool: false });
recorder.record({ toolName: 'search', arguments: {}, responseStatus: 200 });
const { delivered } = await recorder.close();
const upstream = new Upstream(new URL(`${origin}/mcp`), {});
const { statusCode, body } = await upstream.send({ method: 'GET', headers: {} });
await body.dump();
await upstream.close();

const flat = before.flat();
const isUnchanged = globals()
  .flat()
  .every((value, index) => Object.is(value, flat[index]));
const late = order === 'after' ? setUp() : request;
const response = (await late?.(`${origin}/own`)) as { statusCode: number } | undefined;
if (own === 'legacy') await fetch(`${origin}/mocked`).catch(() => {});
service.close();
service.closeAllConnections();
console.log(
  JSON.stringify({
    isUnchanged,
    delivered,
    upstream: statusCode,
    own: response?.statusCode,
    dispatched,
  }),
);
process.exit(0);
