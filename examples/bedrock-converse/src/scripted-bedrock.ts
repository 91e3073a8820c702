import { createServer } from 'node:http2';

const toolUse = (toolUseId: string, name: string, input: object) => ({ toolUse: { toolUseId, name, input } });

/** Contents of the scripted model's messages, in turn. */
const contents = [
  [
    { text: 'Let me look at both machines.' },
    toolUse('tooluse_1', 'read_logs', { machine: 'web-1' }),
    toolUse('tooluse_2', 'restart', { machine: 'db-1' }),
  ],
  [{ text: 'web-1 is out of disk space. Please restart db-1 yourself.' }],
];

/** Starts a server that responds like Bedrock's Converse API, over HTTP/2 as its client asks: one message per request. */
export async function startScriptedBedrock() {
  const server = createServer((_, response) => {
    const content = contents.shift() ?? [];
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        output: { message: { role: 'assistant', content } },
        stopReason: content.some((block) => 'toolUse' in block) ? 'tool_use' : 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        metrics: { latencyMs: 1 },
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
