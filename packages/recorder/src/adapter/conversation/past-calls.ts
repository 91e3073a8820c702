import { hash, randomBytes } from 'node:crypto';

/** Secret of this process. Keys of conversations are held in memory only, and do not reveal what the user wrote. */
const secret = randomBytes(16).toString('hex');

/** Number of characters of a user's text that make a conversation recognizable. */
const maxText = 4096;

/** A message of any framework or provider. */
interface Message {
  readonly role?: unknown;
  readonly type?: unknown;
  readonly content?: unknown;
  /** Content in Gemini's format, and in that of the AI SDK's UI messages. */
  readonly parts?: unknown;
  readonly tool_calls?: unknown;
}

/** A tool call in a message, or a part of a message that contains one. */
type CallPart = Readonly<Record<string, unknown>>;

/** Names of the properties that contain a call's id, over all formats. */
const idNames = ['toolCallId', 'callId', 'call_id', 'toolUseId', 'ref', 'id'];

/** Properties of a message's part that contain the call itself. */
const wrapperNames = ['toolRequest', 'functionCall', 'toolUse', 'toolInvocation'];

/** Types of parts and items that are calls; those of UI messages begin with `tool-`. */
const callTypes = /^(tool[_-]call|tool[_-]use|function_call|custom_tool_call|dynamic-tool|tool-.+)$/;

/** Types of parts that are not part of what a user wrote. */
const resultTypes = /tool[_-]?result|tool-output|function_call_output/;

/**
 * Returns the keys of all tool calls in a conversation, in their order. A key identifies a call together with what the
 * user wrote before it, and survives serialization of the messages, also from one framework's format to another's.
 *
 * @param messages - messages in the format of a framework or provider, or the text that started the conversation
 */
export function callKeys(messages: unknown): string[] {
  const keys: string[] = [];
  const asked = new UserTexts();
  for (const message of listOf(messages)) {
    asked.add(message);
    for (const { id, name } of callsOf(message)) keys.push(keyOf(id, name, asked));
  }
  return keys;
}

/** Returns the key of a call that follows on a conversation. */
export function nextCallKey(messages: unknown, id: string | undefined, name: string): string {
  const asked = new UserTexts();
  if (!isUnique(id)) for (const message of listOf(messages)) asked.add(message);
  return keyOf(id, name, asked);
}

/** Returns how often the user has written something in a conversation. */
export function userTurns(messages: unknown): number {
  return listOf(messages).filter(isUsers).length;
}

/** Returns the last message in which the user has written something. */
export function lastOfUser(messages: unknown): object | undefined {
  return listOf(messages).findLast(isUsers);
}

function listOf(messages: unknown): readonly Message[] {
  if (typeof messages === 'string') return [{ role: 'user', content: messages }];
  if (!Array.isArray(messages)) return [];
  return messages.filter((message) => typeof message === 'object' && message !== null);
}

/**
 * Ids with 16 or more letters and digits in a row are unique over all conversations. Some models number their calls
 * instead, so that the first call of each conversation has the same id.
 */
function isUnique(id: string | undefined): boolean {
  const random = id && /[0-9A-Za-z]{16,}/.exec(id.replaceAll('-', ''));
  return Boolean(random && /\d/.test(random[0]) && /[A-Za-z]/.test(random[0]));
}

function keyOf(id: string | undefined, name: string, asked: UserTexts): string {
  return isUnique(id) ? (id as string) : asked.keyOf(id ?? name);
}

/** What the user has written in a conversation so far. */
class UserTexts {
  #digest = secret;

  add(message: Message): void {
    if (isUsers(message)) this.#digest = hash('sha256', `${this.#digest}\n${textOf(message)}`);
  }

  keyOf(call: string): string {
    return hash('sha256', `${this.#digest} ${call}`);
  }
}

/** Returns `true` for a message of the user that is more than a list of results. */
function isUsers(message: Message): boolean {
  if (message.role !== 'user' && message.role !== 'human' && typeOf(message) !== 'human') return false;
  const content = contentOf(message);
  return !Array.isArray(content) || content.some((part) => !isResult(part));
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

function* callsOf(message: Message): Generator<{ id: string | undefined; name: string }> {
  const content = contentOf(message);
  const parts: readonly unknown[] = [
    message,
    ...(Array.isArray(content) ? content : []),
    ...(Array.isArray(message.tool_calls) ? message.tool_calls.map((call) => ({ toolUse: call })) : []),
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

function callIn(part: unknown): { id: string | undefined; name: string } | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  const own = part as CallPart;
  const wrapper = wrapperNames.find((name) => typeof own[name] === 'object' && own[name] !== null);
  if (!wrapper && !(typeof own.type === 'string' && callTypes.test(own.type))) return undefined;
  const call = (wrapper ? own[wrapper] : own) as CallPart;
  const id = idNames.map((name) => call[name]).find((value) => typeof value === 'string' && value !== '');
  const name = call.name ?? call.toolName ?? (call.function as { name?: unknown } | undefined)?.name;
  return { id: id as string | undefined, name: typeof name === 'string' ? name : '' };
}
