/** Creates a turn with a call of this id. */
type Messages = (id: string | undefined) => object[];

/** A turn of the user and the call and result that follow, as each format has them. */
export const formats: Readonly<Record<string, Messages>> = {
  'chat completions': (id) => [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name: 'echo', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'done' },
  ],
  Mistral: (id) => [
    { role: 'user', content: 'go' },
    { role: 'assistant', toolCalls: [{ id, function: { name: 'echo', arguments: '{}' } }] },
    { role: 'tool', toolCallId: id, content: 'done' },
  ],
  'the Responses API': (id) => [
    { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
    { type: 'function_call', id: 'fc_1', call_id: id, name: 'echo', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: 'done' },
  ],
  'OpenAI agents': (id) => [
    { role: 'user', content: 'go' },
    { type: 'function_call', id: 'fc_1', callId: id, name: 'echo', arguments: '{}' },
    { type: 'function_call_result', callId: id, name: 'echo', output: { type: 'text', text: 'done' } },
  ],
  'the Messages API': (id) => [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'echo', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
  ],
  'the AI SDK': (id) => [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: 'echo', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: 'echo' }] },
  ],
  'UI messages of the AI SDK': (id) => [
    { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'go' }] },
    {
      id: 'm-2',
      role: 'assistant',
      parts: [{ type: 'tool-echo', toolCallId: id, state: 'output-available' }],
    },
  ],
  LangChain: (id) => [
    { type: 'human', content: 'go' },
    {
      type: 'ai',
      content: [{ type: 'tool_use', id, name: 'echo' }],
      tool_calls: [{ id, name: 'echo', args: {} }],
    },
    { type: 'tool', tool_call_id: id, content: 'done' },
  ],
  pi: (id) => [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'toolCall', id, name: 'echo', arguments: {} }] },
    { role: 'toolResult', toolCallId: id, toolName: 'echo', content: [{ type: 'text', text: 'done' }] },
  ],
  Gemini: (id) => [
    { role: 'user', parts: [{ text: 'go' }] },
    { role: 'model', parts: [{ functionCall: { id, name: 'echo', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id, name: 'echo', response: {} } }] },
  ],
  Genkit: (id) => [
    { role: 'user', content: [{ text: 'go' }] },
    { role: 'model', content: [{ toolRequest: { ref: id, name: 'echo', input: {} } }] },
    { role: 'tool', content: [{ toolResponse: { ref: id, name: 'echo', output: 'done' } }] },
  ],
  'Bedrock Converse': (id) => [
    { role: 'user', content: [{ text: 'go' }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId: id, name: 'echo', input: {} } }] },
    { role: 'user', content: [{ toolResult: { toolUseId: id, content: [{ text: 'done' }] } }] },
  ],
  'Strands, in memory': (id) => [
    { role: 'user', content: [{ type: 'textBlock', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'toolUseBlock', name: 'echo', toolUseId: id, input: {} }] },
    { role: 'user', content: [{ type: 'toolResultBlock', toolUseId: id, content: [] }] },
  ],
  Mastra: (id) => [
    { role: 'user', content: { format: 2, parts: [{ type: 'text', text: 'go' }] } },
    {
      role: 'assistant',
      content: {
        format: 2,
        parts: [{ type: 'tool-invocation', toolInvocation: { toolCallId: id, toolName: 'echo' } }],
      },
    },
  ],
};
