import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A tool call of the scripted model. */
export type ScriptedCall = readonly [name: string, input: object];

/**
 * A Messages API on a loopback port, whose model makes these calls, one per turn, and then gives its final text. It needs
 * no key and no network.
 */
export async function scriptedModel(calls: readonly ScriptedCall[], text: string) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (!request.url?.startsWith('/v1/messages?')) return void response.writeHead(404).end('{}');
    const { messages } = JSON.parse(body) as { messages: { role: string }[] };
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    response.setHeader('content-type', 'text/event-stream');
    for (const event of eventsOf(calls[turn], turn, text)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

function eventsOf(call: ScriptedCall | undefined, turn: number, text: string) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const [name, input] = call ?? [];
  const content_block = call
    ? { type: 'tool_use', id: `toolu_${turn}`, name, input: {} }
    : { type: 'text', text: '' };
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    : { type: 'text_delta', text };
  return [
    {
      type: 'message_start',
      message: { id: `msg_${turn}`, type: 'message', role: 'assistant', content: [], usage },
    },
    { type: 'content_block_start', index: 0, content_block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
}
