// No framework: a hand-written loop, and plain functions behind the guard. One payment is approved. One run is stopped
// while its payment is held, which then never runs, although it is approved later. Months later, the record proves which
// calls were made, without containing any argument.
import { Actlog } from '@actlog/client';
import { matchesArguments, Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { type RequestedCall, runAgent } from './agent-loop.ts';
import { approveNext } from './approver.ts';
import { paid, tools } from './tools.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'Agents must not change bank details',
  effect: 'deny',
  match: { tools: ['change_bank_details'] },
  message: 'Call the vendor and let a colleague change it.',
});
await client.policies.create({
  name: 'Payments need approval',
  effect: 'require_approval',
  match: { tools: ['pay_*'] },
});
const hashKey = 'keep this key with your other secrets'; // without one, short arguments can be guessed
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'bookkeeper',
  spool: false,
  hashKey,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

/** Creates a model that requests one call after another, regardless of results. It needs no key and no network. */
function scripted(...calls: readonly Omit<RequestedCall, 'id'>[]) {
  return async (results: readonly string[]) => {
    if (results.length > 0) console.log(`  it gets: ${results.at(-1)}`);
    const call = calls[results.length];
    return call ? [{ id: `call_${results.length + 1}`, ...call }] : 'That is all.';
  };
}
const payment = { invoiceId: 'INV-204', euros: 180 };

console.log('The agent pays an invoice, and follows an email with new bank details:');
const march = recorder.session('invoices-of-march');
const running = runAgent(
  scripted(
    { name: 'read_invoice', arguments: { invoiceId: 'INV-204' } },
    { name: 'pay_invoice', arguments: payment },
    { name: 'change_bank_details', arguments: { vendor: 'Paper & Co', iban: 'XX00 0000 0000' } },
  ),
  tools,
  march,
  AbortSignal.timeout(60_000),
);
await approveNext(client, march.id);
console.log(`  it says: ${await running}`);

console.log('\nA user stops a run while its payment is held:');
const april = recorder.session('invoices-of-april');
const stop = new AbortController();
const model = scripted({ name: 'pay_invoice', arguments: { invoiceId: 'INV-205', euros: 9400 } });
const stopped = runAgent(model, tools, april, stop.signal).catch((reason: unknown) => reason);
await approveNext(client, april.id, () => stop.abort(new Error('the user pressed stop')));
console.log(`  it ends with: ${((await stopped) as Error).message}; it was approved a moment later`);

// Functions can also be called by ordinary code: each keeps its type and returns a promise.
const { read_invoice } = recorder.instrument(tools);
const { vendor } = await march.run(() => read_invoice({ invoiceId: 'INV-204' }));
await recorder.close();

console.log(`\nThe record, when ${vendor} calls:`);
let proven = 0;
for (const { id } of [march, april]) {
  for await (const { category, payload } of client.sessions.events(id)) {
    if (category !== 'tool_api') continue;
    const hash = String(payload?.argumentsHash);
    const isPayment =
      payload?.toolName === 'pay_invoice' && (await matchesArguments(hash, payment, { hashKey }));
    const isOther = await matchesArguments(hash, { ...payment, euros: 190 }, { hashKey });
    if (isPayment && !isOther && payload?.responseStatus === 200) proven += 1;
    const proof = isPayment ? '  exactly INV-204 and 180 euros' : '';
    console.log(`  ${id}  ${payload?.responseStatus}  ${String(payload?.toolName).padEnd(19)}${proof}`);
  }
}
if (JSON.stringify(paid) !== JSON.stringify([payment]) || proven !== 1) {
  console.error(`Expected one proven payment, got ${paid.length} payments, ${proven} of them proven.`);
  process.exitCode = 1;
}
await server.close();
