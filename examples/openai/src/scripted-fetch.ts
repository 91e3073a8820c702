/** Creates a call of one of the agent's own tools. */
function call(name: string, args: object) {
  const id = `call_${name}`;
  return {
    type: 'function_call',
    id,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}

const turns: object[][] = [
  [
    {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'IC 204 delays today' },
    },
    call('get_trip', { tripId: '88' }),
  ],
  [call('send_email', { to: 'host@example.com', body: 'I arrive at 18:40.' })],
  [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'It is 36 minutes late, and your host knows.', annotations: [] },
      ],
    },
  ],
];

/** Responds like the Responses API: one turn of the script per request. */
export async function scriptedFetch(): Promise<Response> {
  return Response.json({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: turns.shift() ?? [],
  });
}
