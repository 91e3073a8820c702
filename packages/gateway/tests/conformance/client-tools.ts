import {
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  ElicitResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type ConformanceTool, noArguments, type ToolContext, textResult } from './tool.ts';

const choices = ['option1', 'option2', 'option3'];
const titledChoices = [
  { const: 'value1', title: 'First' },
  { const: 'value2', title: 'Second' },
  { const: 'value3', title: 'Third' },
];

type Properties = ElicitRequestFormParams['requestedSchema']['properties'];

/** Properties with a default value for each primitive type (SEP-1034). */
const withDefaults: Properties = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

/** Properties with each kind of enumeration (SEP-1330). */
const withChoices: Properties = {
  untitledSingle: { type: 'string', enum: choices },
  titledSingle: { type: 'string', oneOf: titledChoices },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: choices } },
  titledMulti: { type: 'array', items: { anyOf: titledChoices } },
};

async function elicit(context: ToolContext, message: unknown, properties: Properties) {
  const requestedSchema = { type: 'object' as const, properties };
  const params = { message: String(message), requestedSchema };
  const { action, content } = await context.sendRequest(
    { method: 'elicitation/create', params },
    ElicitResultSchema,
  );
  return textResult(`The user's response: ${action} ${JSON.stringify(content ?? {})}`);
}

/** Tools that send requests to the client. */
export const clientTools: readonly ConformanceTool[] = [
  {
    name: 'test_sampling',
    description: 'Requests a text from the model of the client.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    run: async ({ prompt }, context) => {
      const content = { type: 'text' as const, text: String(prompt) };
      const params = { messages: [{ role: 'user' as const, content }], maxTokens: 100 };
      const sampled = await context.sendRequest(
        { method: 'sampling/createMessage', params },
        CreateMessageResultSchema,
      );
      return textResult(`LLM response: ${JSON.stringify(sampled.content)}`);
    },
  },
  {
    name: 'test_elicitation',
    description: 'Requests an input of the user.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    run: ({ message }, context) => elicit(context, message, { response: { type: 'string' } }),
  },
  {
    name: 'test_elicitation_sep1034_defaults',
    description: 'Requests an input with default values.',
    inputSchema: noArguments,
    run: (_args, context) => elicit(context, 'Change what you like.', withDefaults),
  },
  {
    name: 'test_elicitation_sep1330_enums',
    description: 'Requests choices of the user.',
    inputSchema: noArguments,
    run: (_args, context) => elicit(context, 'Choose.', withChoices),
  },
];
