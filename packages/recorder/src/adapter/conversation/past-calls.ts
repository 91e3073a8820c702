import { hash } from 'node:crypto';
import { processSecret } from '../../lib/process-wide.ts';

/** Number of characters of a user's text that make a conversation recognizable. */
const maxText = 4096;

/** Minimum length of an id that is unique. */
const minUnique = 16;

/** A message of any framework or provider. */
interface Message {
  readonly role?: unknown;
  readonly type?: unknown;
  readonly content?: unknown;
  /** Content in the formats of Gemini and of the AI SDK's UI messages. */
  readonly parts?: unknown;
  readonly tool_calls?: unknown;
  /** The same, as some clients name it. */
  readonly toolCalls?: unknown;
}

/** A tool call in a message, or a part of a message that contains one. */
type CallPart = Readonly<Record<string, unknown>>;

/** Names of the properties that contain a call's id, over all formats. */
const idNames = ['toolCallId', 'callId', 'call_id', 'toolUseId', 'ref', 'id'];

/** Properties of a message's part that contain the call itself. */
const wrapperNames = ['toolRequest', 'functionCall', 'toolUse', 'toolInvocation'];

/** Types of parts and items that are calls. In UI messages they start with `tool-`. */
const callTypes =
  /^(tool[_-]call|toolCall|tool[_-]use|function_call|custom_tool_call|dynamic-tool|toolUseBlock|tool-.+)$/;

/** Types of UI messages' parts that contain both a call and its result. */
const uiCallTypes = /^(dynamic-tool|tool-(?!call$|use$).+)$/;

/** Types of parts that are not part of what a user wrote. */
const resultTypes = /tool[_-]?result|tool-output|function_call_output/i;

/** Types of items, without a role, that are not written by the model. */
const foreignItemTypes = /output|result|^(human|system|developer|tool|function)$/i;

/** Roles of messages that are not written by the model. */
const foreignRoles = /^(user|human|system|developer|tool|toolResult|function|data)$/;

/** A tool call among messages. */
interface PastCall {
  readonly id: string | undefined;
  readonly name: string;
  /** `true` if the same part contains the result. */
  readonly hasResult: boolean;
}

/**
 * Returns the keys of all tool calls in a conversation, in their order. A key identifies a call together with what the
 * user wrote before it, and survives serialization of the messages, also from one framework's format to another's.
 *
 * Calls without results at the end are the ones that are being made now. They have no key: another conversation may have
 * started with the same words, and with a call of the same number or, if responses of the model are cached, of the same id.
 */
export function callKeys(messages: readonly unknown[]): string[] {
  const keys: string[] = [];
  const lastOutput = messages.findLastIndex((message) => !isOfModel(message)) + 1;
  let asked = processSecret();
  for (const [place, message] of messages.entries()) {
    if (!isObject(message)) continue;
    asked = withText(asked, message);
    for (const { id, name, hasResult } of callsOf(message)) {
      if (!hasResult && place >= lastOutput) continue;
      keys.push(isUnique(id) ? id : keyOf(asked, id ?? name));
    }
  }
  return keys;
}

/**
 * Returns a digest of what the user has written in a conversation, with a secret of this process.
 *
 * @param messages - messages in the format of a framework or provider, or the text that started the conversation
 */
export function userDigest(messages: readonly unknown[] | string): string {
  if (typeof messages === 'string') return withText(processSecret(), { role: 'user', content: messages });
  return messages.filter(isObject).reduce(withText, processSecret());
}

/** Returns the key of a call: its id or tool, and what the user has written before it. */
export function keyOf(asked: string, call: string): string {
  return `${asked} ${call}`;
}

/**
 * Returns `true` for ids with 16 or more letters and digits in a row, which are unique over all conversations. Some
 * models number their calls instead, so that the first call of each conversation has the same id.
 */
export function isUnique(id: string | undefined): id is string {
  if (id === undefined || id.length < minUnique) return false;
  const [random = ''] = /[0-9A-Za-z]{16,}/.exec(id.replaceAll('-', '')) ?? [];
  return /\d/.test(random) && /[A-Za-z]/.test(random);
}

/** Returns `true` for a message of the user that is more than a list of results. */
export function isOfUser(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { role } = message;
  if (role !== 'user' && role !== 'human' && (role !== undefined || typeOf(message) !== 'human'))
    return false;
  const content = contentOf(message);
  return !Array.isArray(content) || content.some((part) => !isResult(part));
}

/** Returns `true` for a message, or an item of one, that the model wrote. */
function isOfModel(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { role } = message;
  if (typeof role === 'string') return !foreignRoles.test(role);
  const type = typeOf(message);
  return typeof type === 'string' && !foreignItemTypes.test(type);
}

function isObject(message: unknown): message is Message {
  return typeof message === 'object' && message !== null;
}

function withText(asked: string, message: Message): string {
  return isOfUser(message) ? hash('sha256', `${asked}\n${textOf(message)}`) : asked;
}

/** Returns the type of a message of LangChain, whose older versions have no property for it. */
function typeOf({ type, ...rest }: Message): unknown {
  return typeof type === 'string' ? type : (rest as { _getType?: () => unknown })._getType?.();
}

function isResult(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { type } = part as CallPart;
  if (typeof type === 'string' && resultTypes.test(type)) return true;
  return ['functionResponse', 'toolResponse', 'toolResult'].some(
    (name) => (part as CallPart)[name] !== undefined,
  );
}

function contentOf({ content, parts }: Message): unknown {
  const own = content ?? parts;
  return Array.isArray(own) || !own || typeof own !== 'object' ? own : (own as Message).parts;
}

function textOf(message: Message): string {
  const content = contentOf(message);
  const texts = (Array.isArray(content) ? content : [content]).map((part: unknown) =>
    typeof part === 'string' ? part : (part as { readonly text?: unknown } | null | undefined)?.text,
  );
  return texts
    .filter((text) => typeof text === 'string')
    .join('\n')
    .slice(0, maxText);
}

function* callsOf(message: Message): Generator<PastCall> {
  const content = contentOf(message);
  const parts: readonly unknown[] = [
    message,
    ...(Array.isArray(content) ? content : []),
    ...[message.tool_calls, message.toolCalls].flat().map((call: unknown) => ({ toolUse: call })),
  ];
  const found = new Set<string>();
  for (const part of parts) {
    const call = callIn(part);
    // LangChain repeats the calls of a message in its content.
    if (!call || (call.id !== undefined && found.has(call.id))) continue;
    if (call.id !== undefined) found.add(call.id);
    yield call;
  }
}

function callIn(part: unknown): PastCall | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  const own = part as CallPart;
  const wrapper = wrapperNames.find((name) => typeof own[name] === 'object' && own[name] !== null);
  if (!wrapper && !(typeof own.type === 'string' && callTypes.test(own.type))) return undefined;
  const call = (wrapper ? own[wrapper] : own) as CallPart;
  const id = idNames.map((name) => call[name]).find((value) => typeof value === 'string' && value !== '');
  const name = call.name ?? call.toolName ?? (call.function as { name?: unknown } | undefined)?.name;
  return {
    id: id as string | undefined,
    name: typeof name === 'string' ? name : '',
    hasResult: wrapper === 'toolInvocation' || uiCallTypes.test(String(own.type)),
  };
}
