import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Actlog } from '@actlog/client';
import { exportRequest } from '../../packages/server/src/otlp/request-shape.ts';
import { median } from '../measure/interleaved-rounds.ts';
import { agentIds, eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { load } from './load.ts';

/** Processor time of the server for each tool call, and its ratio to `POST /v1/events` in the same round. */
export interface OtlpCost {
  readonly cpuMicros: number;
  readonly ratio: number;
}

/** Spans of a request: the default of OpenTelemetry's exporters. */
const spansPerRequest = 512;

/** Requests of spans in a round, and how many at once. */
const requests = 48;
const concurrent = 8;

const sessions = 50;

/** Format and coding of a request's body. */
interface Side {
  readonly contentType: string;
  encode(request: object): Uint8Array;
  readonly isCompressed: boolean;
}

const json = (request: object) => Buffer.from(JSON.stringify(request));
const protobuf = (request: object) => {
  // OTLP's JSON has ids in hexadecimal digits.
  const withBytes = JSON.parse(JSON.stringify(request), (key, value) =>
    /Id$/.test(key) ? Buffer.from(value, 'hex') : value,
  );
  return exportRequest.encode(exportRequest.fromObject(withBytes)).finish();
};

const protobufType = 'application/x-protobuf';

const sides: Readonly<Record<string, Side>> = {
  protobuf: { contentType: protobufType, encode: protobuf, isCompressed: false },
  'protobuf, gzip': {
    contentType: protobufType,
    encode: (request) => gzipSync(protobuf(request)),
    isCompressed: true,
  },
  JSON: { contentType: 'application/json', encode: json, isCompressed: false },
};

let index = 0;

/** Returns a span of the same call as that of a body of {@link eventBodies}, as a GenAI instrumentation emits it. */
function span(traceId: string): object {
  index += 1;
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': `search_documents_${index % 7}`,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': `call_${index}`,
    'gen_ai.tool.call.arguments': JSON.stringify({ query: `lamps for room ${index}`, limit: 20 }),
    'gen_ai.tool.call.result': JSON.stringify({ documents: [{ id: index, title: 'Lamp' }] }),
    'gen_ai.agent.name': agentIds[index % agentIds.length],
    'gen_ai.conversation.id': `bench-session-${index % sessions}`,
  };
  return {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    parentSpanId: randomBytes(8).toString('hex'),
    name: 'execute_tool search',
    kind: 1,
    startTimeUnixNano: `${Date.now() - 5}000000`,
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    status: {},
  };
}

function body({ encode }: Side): Uint8Array {
  const traceId = randomBytes(16).toString('hex');
  const spans = Array.from({ length: spansPerRequest }, () => span(traceId));
  return encode({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: 'bench' }, spans }] }] });
}

/** Sends the requests of a round; returns microseconds of the server's processor time for each span. */
async function spansRound(server: ChildServer, side: Side): Promise<number> {
  const bodies = Array.from({ length: requests }, () => body(side));
  const headers = {
    authorization: `Bearer ${server.apiKey}`,
    'content-type': side.contentType,
    ...(side.isCompressed && { 'content-encoding': 'gzip' }),
  };
  const before = await server.usage();
  const sender = async () => {
    for (let next = bodies.pop(); next; next = bodies.pop()) {
      const sent = { method: 'POST', headers, body: new Uint8Array(next) };
      const response = await fetch(new URL('/otlp/v1/traces', server.url), sent);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`The server responded ${response.status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, sender));
  const after = await server.usage();
  return (after.cpuMicros - before.cpuMicros) / (requests * spansPerRequest);
}

/** Sends events one by one; returns microseconds of the server's processor time for each. */
async function eventsRound(server: ChildServer, nextBody: () => string): Promise<number> {
  const { url, apiKey } = server;
  const before = await server.usage();
  const { requests: sent } = await load({ url, apiKey, connections: 256, durationMs: 2000, nextBody });
  const after = await server.usage();
  return (after.cpuMicros - before.cpuMicros) / sent;
}

/** Measures spans beside single events in turn, in one server; the first two rounds are a warm-up. */
export async function measureOtlp(rounds: number): Promise<Record<string, OtlpCost>> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const server = await ChildServer.start('actlog', join(folder, 'bench.db'));
  const costs: Record<string, number[]> = { events: [] };
  try {
    const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
    for (const id of agentIds) await client.agents.create({ id, name: id });
    const nextBody = eventBodies(sessions);
    for (let round = 0; round < rounds + 2; round += 1) {
      const add = (name: string, cost: number) => {
        if (round >= 2) costs[name] = [...(costs[name] ?? []), cost];
      };
      add('events', await eventsRound(server, nextBody));
      for (const [name, side] of Object.entries(sides)) add(name, await spansRound(server, side));
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  const events = costs.events ?? [];
  return Object.fromEntries(
    Object.entries(costs).map(([name, of]) => [
      name,
      {
        cpuMicros: Number(median(of).toPrecision(4)),
        ratio: Number(median(of.map((cost, at) => cost / (events[at] ?? Number.NaN))).toPrecision(3)),
      },
    ]),
  );
}
