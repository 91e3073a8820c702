import { randomUUID } from 'node:crypto';
import { repeatedMember } from '@actlog/recorder/adapter';
import {
  isResponse,
  keyOfId,
  lineOf,
  messagesOf,
  type RpcMessage,
  withElementsOf,
  withValue,
} from '../messages/json-rpc.ts';
import type { ServerTools, ToolView } from './server-tools.ts';
import type { ToolCaller } from './tool-definition.ts';

const listMethod = 'tools/list';
const promptsMethod = 'prompts/list';
/** Requests whose results have the instructions of the server, up to revision 2025-11-25 and since. */
const instructionsMethods: ReadonlySet<unknown> = new Set(['initialize', 'server/discover']);
const changedMethod = 'notifications/tools/list_changed';

/** Time for one response to a list of the gateway itself, in milliseconds. */
const listMs = 10_000;

/** Maximum number of pages that the gateway reads itself. */
const maxPages = 200;

/** Notification that asks a client to list the tools again. */
export const listChangedLine = lineOf(JSON.stringify({ jsonrpc: '2.0', method: changedMethod }));

/** Notification that asks a client to list the prompts again. */
export const promptsChangedLine = lineOf(
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' }),
);

/** Member of a result with pinned definitions. */
type Member = 'tools' | 'prompts' | 'instructions';

/** Open request of the client for definitions. */
interface Requested {
  readonly member: Member;
  /** `true` for the first part of a list. */
  readonly isFirst: boolean;
}

/** Lists of tools that one session has requested, and those that the gateway requests itself. */
export class ToolLists {
  readonly #tools: ServerTools;
  /** Open requests of the client, by the keys of their ids. */
  readonly #requested = new Map<string, Requested>();
  /** Open requests of the gateway. */
  readonly #own = new Map<string, (response: RpcMessage) => void>();
  #listing: Promise<void> | undefined;

  constructor(tools: ServerTools) {
    this.#tools = tools;
  }

  /** Tracks the lists that messages of the client request. */
  request(messages: readonly RpcMessage[]): void {
    for (const { id, method, params } of messages) {
      const member = memberOf(method);
      if (member === undefined || id === undefined) continue;
      this.#requested.set(keyOfId(id), { member, isFirst: cursorOf(params) === undefined });
    }
  }

  /** `true` if a line of the server may concern the lists, and has to be parsed. */
  concerns(line: Buffer): boolean {
    return this.#requested.size > 0 || this.#own.size > 0 || line.includes(changedMethod);
  }

  /** Takes the responses to the gateway itself, and announcements. Returns `true` if the client must not get the line. */
  consume(messages: readonly RpcMessage[]): boolean {
    let isOwn = false;
    for (const message of messages) {
      if (message.method === changedMethod) this.#tools.serverChanged();
      const key = keyOfId(message.id);
      const respond = isResponse(message) ? this.#own.get(key) : undefined;
      if (!respond) continue;
      this.#own.delete(key);
      respond(message);
      isOwn = true;
    }
    return isOwn;
  }

  /**
   * Returns a line with the tools that the client may see: the very line if it has no list, or all of it is shown.
   *
   * @param isBatch - `true` if the line is an array of messages
   */
  shown(
    line: Buffer,
    messages: readonly RpcMessage[],
    isBatch: boolean,
    caller: ToolCaller,
  ): Buffer | Promise<Buffer> {
    const lists = [...messages.entries()].flatMap(([index, message]) => {
      const key = keyOfId(message.id);
      const requested = isResponse(message) ? this.#requested.get(key) : undefined;
      if (requested === undefined) return [];
      this.#requested.delete(key);
      return { ...requested, path: isBatch ? [index] : [], page: pageOf(message, requested.member) };
    });
    if (lists.every(({ page }) => page === undefined)) return line;
    // Numbers are read as most clients read them: definitions are compared by what models see.
    const values = messagesOf(JSON.parse(line.toString()));
    const views = lists.flatMap(({ path, member, isFirst, page }) => {
      const { tools = [], isLast = true } = pageOf(values[path[0] ?? 0] ?? {}, member) ?? {};
      const pins = member === 'tools' ? this.#tools : this.#tools[member];
      return page && pins
        ? [{ path, member, isFirst, tools, views: pins.take({ tools, isFirst, isLast }, caller) }]
        : [];
    });
    const { denied } = this.#tools;
    // Of repeated members, clients may take another one than the gateway.
    const isPlain = !this.#tools.isHolding || repeatedMember(line.toString()) === undefined;
    const read = isPlain ? line : lineOf(JSON.stringify(isBatch ? values : values[0]));
    if (!denied) return changed(read, views);
    const names = (tools: readonly unknown[]) => tools.map(nameOf).filter((name) => name !== undefined);
    return Promise.all(
      views.map(async ({ path, member, isFirst, tools, views: own }) => {
        if (member !== 'tools') return { path, member, views: own };
        const hidden = await denied.of(names(tools), caller, isFirst);
        const isHidden = (index: number) => hidden.has(nameOf(tools[index]) ?? '');
        return { path, member, views: own.map((view, index) => (isHidden(index) ? 'hidden' : view)) };
      }),
    ).then((all) => changed(read, all));
  }

  /**
   * Lists the tools for the gateway itself, so that the definition of a called tool is known. Resolves also if the server
   * has no list, or does not respond.
   *
   * @param like - parameters of a request of the client: since revision 2026-07-28, each request names the protocol
   * @param send - sends a line to the server
   */
  list(caller: ToolCaller, like: unknown, send: (line: Buffer) => void): Promise<void> {
    this.#listing ??= this.#readList(caller, protocolMeta(like), send).finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #readList(caller: ToolCaller, meta: object, send: (line: Buffer) => void): Promise<void> {
    let cursor: unknown;
    for (let page = 0; page < maxPages; page += 1) {
      const response = await this.#ask({ ...meta, ...(cursor !== undefined && { cursor }) }, send);
      const read = response && pageOf(response, 'tools');
      if (!read) break;
      const { tools } = JSON.parse(JSON.stringify(response.result)) as { readonly tools: readonly unknown[] };
      this.#tools.take({ tools, isFirst: page === 0, isLast: read.isLast }, caller);
      if (read.isLast) return;
      ({ nextCursor: cursor } = response.result as { readonly nextCursor?: unknown });
    }
    this.#tools.notListed();
  }

  async #ask(params: object, send: (line: Buffer) => void): Promise<RpcMessage | undefined> {
    const id = `actlog-${randomUUID()}`;
    const response = Promise.withResolvers<RpcMessage | undefined>();
    const timer = setTimeout(() => response.resolve(undefined), listMs);
    this.#own.set(keyOfId(id), response.resolve);
    send(lineOf(JSON.stringify({ jsonrpc: '2.0', id, method: listMethod, params })));
    try {
      return await response.promise;
    } finally {
      clearTimeout(timer);
      this.#own.delete(keyOfId(id));
    }
  }
}

function cursorOf(params: unknown): unknown {
  return ((params ?? {}) as { readonly cursor?: unknown }).cursor;
}

function protocolMeta(params: unknown): object {
  const { _meta: meta } = (params ?? {}) as { readonly _meta?: object | null };
  const entries = Object.entries(meta ?? {}).filter(([name]) => name.startsWith('io.modelcontextprotocol/'));
  return entries.length === 0 ? {} : { _meta: Object.fromEntries(entries) };
}

function memberOf(method: unknown): Member | undefined {
  if (method === listMethod) return 'tools';
  if (method === promptsMethod) return 'prompts';
  return instructionsMethods.has(method) ? 'instructions' : undefined;
}

function pageOf({ result }: RpcMessage, member: Member) {
  const { [member]: listed, nextCursor } = (result ?? {}) as {
    readonly [Name in Member | 'nextCursor']?: unknown;
  };
  if (member === 'instructions') {
    if (result === undefined) return undefined;
    // A server without instructions has an empty list, so that later ones are new.
    const isText = typeof listed === 'string' && listed !== '';
    return { tools: isText ? [{ name: member, description: listed }] : [], isLast: true };
  }
  if (!Array.isArray(listed)) return undefined;
  return { tools: listed as readonly unknown[], isLast: nextCursor === undefined || nextCursor === null };
}

function nameOf(tool: unknown): string | undefined {
  const { name } = (tool ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/** Returns a line in which tools are as the client sees them: the very line if all are as listed. */
function changed(
  line: Buffer,
  lists: readonly {
    readonly path: readonly number[];
    readonly member: Member;
    readonly views: readonly ToolView[];
  }[],
): Buffer {
  const altered = lists.filter(({ views }) => views.some((view) => view !== 'as listed'));
  return altered.length === 0
    ? line
    : Buffer.from(
        altered.reduce(
          (text, { path, member, views }) => withTools(text, [...path, 'result', member], views),
          line.toString(),
        ),
      );
}

function withTools(text: string, path: readonly (string | number)[], views: readonly ToolView[]): string {
  if (path.at(-1) === 'instructions') {
    const [view] = views;
    return withValue(text, [...path], typeof view === 'object' ? view.description : undefined);
  }
  return withElementsOf(text, [...path], (element, index) => {
    const view = views[index] ?? 'as listed';
    if (view === 'hidden') return undefined;
    return view === 'as listed' ? element : JSON.stringify(view);
  });
}
