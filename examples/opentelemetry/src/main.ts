// A billing agent built with Strands, which emits OpenTelemetry spans. One more line in the provider records every tool
// call; the agent and its tools are unchanged.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/opentelemetry';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { Agent, tool } from '@strands-agents/sdk';
import * as z from 'zod';
import { ScriptedModel } from './scripted-model.ts';

const folder = await mkdtemp(join(tmpdir(), 'actlog-opentelemetry-'));
const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  spoolDir: join(folder, 'spool'),
});

const provider = new BasicTracerProvider({ spanProcessors: [actlog({ recorder })] }); // the one line
trace.setGlobalTracerProvider(provider);

const invoices = new Map([['I-7', 120]]);
const invoice = z.object({ invoice: z.string() });
const agent = new Agent({
  id: 'billing',
  model: new ScriptedModel(
    [
      { name: 'read_invoice', input: { invoice: 'I-7' } },
      { name: 'read_invoice', input: { invoice: 'I-8' } }, // a typo of the model
      { name: 'send_reminder', input: { invoice: 'I-7' } },
    ],
    'A reminder for invoice I-7 is on its way.',
  ),
  tools: [
    tool({
      name: 'read_invoice',
      description: 'Read an invoice.',
      inputSchema: invoice,
      callback: ({ invoice: number }) => {
        const amount = invoices.get(number);
        if (amount === undefined) throw new Error(`There is no invoice ${number}.`);
        return `${number}: ${amount} euros are due`;
      },
    }),
    tool({
      name: 'send_reminder',
      description: 'Remind the customer of an invoice.',
      inputSchema: invoice,
      callback: ({ invoice: number }) => `sent for ${number}`,
    }),
  ],
  printer: false,
});

// Spans of Strands have no session, so it is set around the run.
await recorder.session('dunning-3').run(() => agent.invoke('Remind the customer of invoice I-7.'));
await provider.forceFlush();

const { delivered } = await recorder.close();
console.log(`${delivered} calls recorded:`);
for await (const { agentId, payload } of client.sessions.events('dunning-3')) {
  console.log(`  ${agentId}  ${payload?.responseStatus}  ${payload?.toolName}  ${payload?.argumentsHash}`);
}
await provider.shutdown();
await server.close();
await rm(folder, { recursive: true, force: true });
