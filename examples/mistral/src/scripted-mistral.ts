import { createServer } from 'node:http';

const call = (id: string, name: string, args: object) => ({
  id,
  function: { name, arguments: JSON.stringify(args) },
});

/** Messages of the scripted model, in turn. */
const messages = [
  {
    content: '',
    tool_calls: [
      call('D681PevKs', 'find_invoice', { number: '2026-118' }),
      call('yBcP2xm7T', 'find_payment', { reference: '2026-118' }),
    ],
  },
  { content: '', tool_calls: [call('Qk8wLzR3n', 'send_reminder', { invoice: '2026-118' })] },
  { content: 'Invoice 2026-118 is not paid yet, and the customer has a reminder.' },
];

/** Starts a server that responds like Mistral's API: one message of the script per request. */
export async function startScriptedMistral() {
  const server = createServer((_, response) => {
    const message = { role: 'assistant', ...messages.shift() };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'cmpl-1',
        object: 'chat.completion',
        model: 'scripted',
        created: 1,
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }],
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
