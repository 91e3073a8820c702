import { type GenAiSpan, jsonOf, textOf } from './genai-span.ts';

/** Arguments of a tool call as its span shows them. */
export interface ShownArguments {
  /** Undefined if the span does not contain them in a form that is understood. */
  readonly arguments?: unknown;
  /** `true` if the span contains arguments in another form, such as Python's `str` of a dictionary. */
  readonly hasUnreadArguments?: boolean;
}

/** Attributes with the arguments alone, starting with OpenTelemetry's conventions. */
const argumentKeys = [
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.arguments',
  'gen_ai.tool.args',
  'tool_arguments',
  'gcp.vertex.agent.tool_call_args',
  'ai.toolCall.args',
  'genkit:input',
  'spring.ai.tool.call.arguments',
  'lk.function_tool.arguments',
  'lk.pii.function_tool.arguments',
  'mlflow.spanInputs',
  'langfuse.observation.input',
  'lmnr.span.input',
  'tool.arguments',
];

/** The same attributes of OpenInference. */
const [inputKey, callArgumentsKey, parametersKey] = [
  'input.value',
  'tool_call.function.arguments',
  'tool.parameters',
] as const;

/** Inputs of a function, and of a chat, which some emitters also set for a tool. */
const functionKeys = ['traceloop.entity.input', 'agentops.tool.input', 'agentops.entity.input'];
const promptKey = 'gen_ai.prompt';
const messagesKey = 'gen_ai.input.messages';

/** Value of both arguments and result if Google's ADK does not capture content. */
const redacted = '{}';

type Fields = Readonly<Record<string, unknown>>;

/** Reads the arguments of a tool's span from the first attribute that can be parsed, of any emitter. */
export function argumentsOf(span: GenAiSpan, toolName: string, callId: string | undefined): ShownArguments {
  let hasUnread = false;
  for (const [text, read] of candidates(span, toolName, callId)) {
    if (text === undefined) continue;
    const args = read(text);
    if (args !== undefined) return { arguments: args };
    hasUnread = true;
  }
  return hasUnread ? { hasUnreadArguments: true } : {};
}

type Candidate = readonly [text: string | undefined, read: (text: string) => unknown];

function* candidates(span: GenAiSpan, toolName: string, callId: string | undefined): Generator<Candidate> {
  const { attributes, events } = span;
  const plain = (text: string) => unwrapped(jsonOf(text), toolName);
  const inMessages = (text: string) => ofMessages(jsonOf(text), toolName, callId);
  const isRedacted = attributes['gcp.vertex.agent.tool_response'] === redacted;
  for (const key of argumentKeys) {
    const text = textOf(attributes, key);
    const isHidden = isRedacted && key === 'gcp.vertex.agent.tool_call_args' && text === redacted;
    if (text !== undefined && !isHidden) yield [text, plain];
  }
  const isText = attributes['input.mime_type'] === 'text/plain';
  yield [textOf(attributes, inputKey), isText ? (text) => text : plain];
  yield [textOf(attributes, callArgumentsKey), plain];
  const parameters = textOf(attributes, parametersKey);
  // Some emitters set them to the arguments, others to the schema of these, which is the same for each call.
  if (!isSchema(jsonOf(parameters))) yield [parameters, plain];
  for (const key of functionKeys) {
    yield [textOf(attributes, key), (text) => ofFunction(unwrapped(jsonOf(text), toolName))];
  }
  const isTraceable = attributes['gen_ai.serialized.signature'] !== undefined;
  yield [textOf(attributes, promptKey), (text) => ofPrompt(jsonOf(text), toolName, isTraceable)];
  yield [textOf(attributes, messagesKey), inMessages];
  for (const { name, attributes: ofEvent } of events) {
    // Earlier versions of the conventions, and Strands.
    if (name === 'gen_ai.tool.message') yield [textOf(ofEvent, 'content'), plain];
    if (name === 'gen_ai.client.inference.operation.details')
      yield [textOf(ofEvent, messagesKey), inMessages];
  }
}

/** Returns the arguments within a value that also names the tool, or that is JSON within JSON. */
function unwrapped(value: unknown, toolName: string): unknown {
  if (typeof value === 'string') return containerIn(value) ?? value;
  if (!isObject(value)) return value;
  const { arguments: args, params, method, ...rest } = value;
  if (method === 'tools/call' && isObject(params)) return params.arguments ?? {};
  const isNamed = Object.entries(rest).some(
    ([key, name]) => /^(?:tool_?name|name)$/i.test(key) && name === toolName,
  );
  if (args === undefined || !isNamed) return value;
  return typeof args === 'string' ? (containerIn(args) ?? args) : args;
}

/** Returns the arguments from the input of a function: positional and named ones; with LangChain for Python, `inputs`. */
function ofFunction(input: unknown): unknown {
  if (!isObject(input)) return undefined;
  const { args, kwargs, inputs, input_str: text } = input;
  if (!Array.isArray(args)) return inputs ?? (text === undefined && kwargs === undefined ? input : undefined);
  if (args.length === 0) return kwargs ?? undefined;
  const [first] = args;
  return typeof first === 'string' ? (containerIn(first) ?? first) : first;
}

/**
 * Returns the arguments from LangSmith's inputs of a run. A tool of LangChain has one input, which is a string.
 *
 * @param isTraceable - `true` if a function runs, whose only parameter may have the same name
 */
function ofPrompt(inputs: unknown, toolName: string, isTraceable: boolean): unknown {
  const value = unwrapped(inputs, toolName);
  if (isTraceable || !isObject(value) || Object.keys(value).join() !== 'input') return value;
  const { input } = value;
  if (typeof input !== 'string') return input;
  return containerIn(input) ?? (/^\s*[{[]/.test(input) ? undefined : input);
}

interface Part {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly id?: unknown;
  readonly arguments?: unknown;
  readonly content?: unknown;
}

/** Returns the arguments of a call from the messages of a chat; without any call in them, from their only text. */
function ofMessages(messages: unknown, toolName: string, callId: string | undefined): unknown {
  if (!Array.isArray(messages)) return isObject(messages) ? unwrapped(messages, toolName) : undefined;
  const parts = messages.flatMap((message: { parts?: unknown; content?: unknown } | null): readonly Part[] =>
    Array.isArray(message?.parts) ? message.parts : [{ type: 'text', content: message?.content }],
  );
  const calls = parts.filter((part) => part?.type === 'tool_call');
  const call =
    calls.find(({ id }) => callId !== undefined && id === callId) ??
    calls.find(({ name }) => name === toolName) ??
    calls[0];
  const shown = call ? call.arguments : parts.length === 1 ? parts[0]?.content : undefined;
  if (typeof shown === 'string') return containerIn(shown);
  return shown ?? undefined;
}

/** Returns the object or the list of a JSON text; undefined for any other text. */
function containerIn(text: string): object | undefined {
  const value = /^\s*[{[]/.test(text) ? jsonOf(text) : undefined;
  return typeof value === 'object' && value !== null ? value : undefined;
}

function isSchema(value: unknown): boolean {
  return isObject(value) && value.type === 'object' && isObject(value.properties);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
