import { createServer } from 'node:http';

/** Turns of the scripted model: function calls, or a text. */
const turns: object[][] = [
  [
    { functionCall: { name: 'find_booking', args: { guest: 'Ines Aas' } } },
    { functionCall: { name: 'read_card', args: { guest: 'Ines Aas' } } },
  ],
  [{ functionCall: { name: 'move_booking', args: { id: 'b-12', to: '2026-12-03' } } }],
  [{ text: 'Your room is moved to December 3.' }],
];

/** Starts a server that responds like the Gemini API: one turn of the script per request. */
export async function startScriptedGemini() {
  const server = createServer((_, response) => {
    const content = { role: 'model', parts: turns.shift() ?? [{ text: 'Done.' }] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ candidates: [{ content, finishReason: 'STOP' }] }));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
