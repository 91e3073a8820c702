// No framework: a hand-written loop, plain functions, and the guard in front of them. One payment is approved, one run
// is stopped while its payment waits and stays unpaid although it is approved later, and months after, the record
// proves what was called without ever having held an argument.
import { Actlog } from '@actlog/client';
import { matchesArguments, Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { type RequestedCall, runAgent } from './agent-loop.ts';
import { approveNext } from './approver.ts';
import { paid, tools } from './tools.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'Bank details are changed by hand',
  effect: 'deny',
  match: { tools: ['change_bank_details'] },
  message: 'Call the vendor and let a colleague change it.',
});
await client.policies.create({
  name: 'Payments need a colleague',
  effect: 'require_approval',
  match: { tools: ['pay_*'] },
});
const hashKey = 'keep this key with your other secrets'; // without one, small arguments can be found by trying
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'bookkeeper',
  spool: false,
  hashKey,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

/** A model that asks for one call after another, whatever it hears: no key, no network. */
function scripted(...calls: readonly Omit<RequestedCall, 'id'>[]) {
  return async (heard: readonly string[]) => {
    if (heard.length > 0) console.log(`  it hears: ${heard.at(-1)}`);
    const call = calls[heard.length];
    return call ? [{ id: `call_${heard.length + 1}`, ...call }] : 'That is all.';
  };
}
const payment = { invoiceId: 'INV-204', euros: 180 };

console.log('The agent pays an invoice, and falls for a mail with new bank details:');
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

console.log('\nA user stops a run while its payment waits:');
const april = recorder.session('invoices-of-april');
const stop = new AbortController();
const asked = scripted({ name: 'pay_invoice', arguments: { invoiceId: 'INV-205', euros: 9400 } });
const stopped = runAgent(asked, tools, april, stop.signal).catch((reason: unknown) => reason);
await approveNext(client, april.id, () => stop.abort(new Error('the user pressed stop')));
console.log(`  it ends with: ${((await stopped) as Error).message}; it was approved a moment later`);

// Functions that ordinary code calls need no loop: each keeps its type and returns a promise.
const { read_invoice } = recorder.instrument(tools);
const { vendor } = await march.run(() => read_invoice({ invoiceId: 'INV-204' }));
await recorder.close();

console.log(`\nWhat the record says, with ${vendor} at the telephone:`);
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
  console.error(`Expected one payment with its proof; there were ${paid.length}, and ${proven} proven.`);
  process.exitCode = 1;
}
await server.close();
