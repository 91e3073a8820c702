import { createServer } from 'node:http';

const call = (name: string, args: object) => ({ function: { name, arguments: args } });

/** Messages of the scripted model, in turn. */
const messages = [
  {
    role: 'assistant',
    content: '',
    tool_calls: [call('read_note', { title: 'groceries' }), call('delete_note', { title: 'diary' })],
  },
  { role: 'assistant', content: 'You need oat milk and rye bread. I left your diary alone.' },
];

/** Starts a server that responds like Ollama: one message of the script per request. */
export async function startScriptedOllama() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ model: 'scripted', message: messages.shift(), done: true, done_reason: 'stop' }),
    );
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
