interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Creates a call of one of the agent's own tools. */
export function toolUse(name: string, input: object): Block {
  return { type: 'tool_use', id: `toolu_${crypto.randomUUID()}`, name, input };
}

/** Creates a search that Anthropic runs, with its results. */
export function webSearch(query: string): Block[] {
  const id = `srvtoolu_${crypto.randomUUID()}`;
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [] },
  ];
}

/** Returns a `fetch` that responds like the Messages API: one turn after the other, then the final text. */
export function scriptedFetch(turns: readonly (readonly Block[])[], lastWord: string): typeof fetch {
  let taken = 0;
  return async () => {
    const content = turns[taken] ?? [{ type: 'text', text: lastWord }];
    const stop_reason = taken < turns.length ? 'tool_use' : 'end_turn';
    taken += 1;
    const usage = { input_tokens: 1, output_tokens: 1 };
    return Response.json({
      id: `msg_${taken}`,
      type: 'message',
      role: 'assistant',
      content,
      stop_reason,
      usage,
    });
  };
}
