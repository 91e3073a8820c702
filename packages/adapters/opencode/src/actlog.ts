import { ActionDeniedError, responseStatuses, sharedRecorder, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  abandonedCall,
  type BegunCall,
  DeniedRun,
  type HookedCall,
  mcpErrorStatus,
  noteTexts,
  processWidePerOwner,
  toolContent,
} from '@actlog/recorder/adapter';
import type { Hooks, PluginInput } from '@opencode-ai/plugin';

/** Maximum time that opencode waits at its end for events that are not delivered, in milliseconds. */
const disposeTimeoutMs = 2_000;

/** The part of opencode's client that the plugin uses. */
export type OpencodeClient = Pick<PluginInput['client'], 'app' | 'session'>;

/**
 * Records every tool call of opencode, and guards it if the recorder's guard is on. In `opencode.json`:
 *
 * ```json
 * { "plugin": ["@actlog/opencode"] }
 * ```
 *
 * The calls of subagents are covered too, in the session of the chat, with the name of the subagent as a fact beside the
 * agent.
 *
 * @param input - what opencode passes to its plugins
 * @returns the hooks of the plugin
 * @throws TypeError or RangeError when an option is invalid
 */
export async function actlog(
  { client }: { readonly client: OpencodeClient },
  options: AdapterOptions = {},
): Promise<Hooks> {
  const recorder =
    options.recorder ??
    sharedRecorder({
      agentId: process.env.ACTLOG_AGENT_ID || 'opencode', // else the name of the user's project
      onError: (error) => writeLog(client, error),
    });
  const calls = opencodeCalls({ ...options, recorder });
  const sessions = new Sessions(client);
  const running = new RunningCalls(calls, sessions, (id) => void client.session.abort({ path: { id } }));
  return {
    'chat.message': async ({ sessionID, agent }, { message, parts }) => {
      sessions.rememberAgent(sessionID, agent ?? message.agent);
      running.beginPrompt(sessionID);
      await rememberUserTexts(calls, sessions, sessionID, parts);
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      if (!calls.tracesOrigins || sessionID === undefined) return;
      const { sessionId } = await sessions.placeOf(sessionID);
      noteTexts(calls, () => ({ sessionId, system: [system] }));
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      if (runsTool(tool) && calls.covers(tool)) await running.begin({ tool, sessionID, callID }, args);
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      if (runsTool(tool)) await running.end({ sessionID, callID }, { ok: true, result: output });
      else if (calls.claim(output)) recordInvalid(calls, await sessions.placeOf(sessionID), callID, args);
    },
    event: async ({ event }) => {
      if (event.type === 'session.created' || event.type === 'session.updated') {
        sessions.note(event.properties.info);
      } else if (event.type === 'message.part.updated') {
        const { part } = event.properties;
        if (part.type !== 'tool' || part.state.status !== 'error') return;
        await running.end(part, { ok: false, error: failureOf(part.tool, part.state.error) });
      } else if (event.type === 'session.error') {
        const { sessionID, error } = event.properties;
        if (sessionID !== undefined && error?.name === 'MessageAbortedError') running.abort(sessionID);
      } else if (event.type === 'session.idle') {
        running.abandon(event.properties.sessionID);
      } else if (event.type === 'session.deleted') {
        running.abort(event.properties.info.id);
        sessions.forget(event.properties.info.id);
      }
    },
    dispose: async () => {
      running.abandonAll();
      await recorder.flush({ timeoutMs: disposeTimeoutMs });
    },
  };
}

async function rememberUserTexts(
  calls: AdapterCalls,
  sessions: Sessions,
  sessionID: string,
  parts: readonly { readonly type: string; readonly text?: unknown; readonly synthetic?: unknown }[],
): Promise<void> {
  if (!calls.tracesOrigins) return;
  const { sessionId, subagent } = await sessions.placeOf(sessionID);
  if (subagent !== undefined) return; // a model wrote it
  // Synthetic parts are contents of files, which opencode adds.
  const user = [parts.filter(({ type, synthetic }) => type === 'text' && synthetic !== true)];
  noteTexts(calls, () => ({ sessionId, user }));
}

/** Writes to opencode's log, because its screen belongs to its interface. */
function writeLog(client: OpencodeClient, { message }: Error): void {
  const body = { service: 'actlog', level: 'warn' as const, message };
  // Not awaited: opencode answers only after its plugins are loaded.
  Promise.resolve(client.app.log({ body })).catch(() => {});
}

/** Tool that opencode runs instead of one that does not exist, or whose arguments are not JSON. */
const invalidTool = 'invalid';

/** Creates the `AdapterCalls` of this adapter. */
function opencodeCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'opencode',
      sdk: `@actlog/opencode/${version}`,
      form: '"plugin": [["@actlog/opencode", { "guard": … }]] or actlog(input, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
    },
    options,
  );
}

/** Returns `true` for a call that reaches its tool. */
function runsTool(tool: string): boolean {
  return tool !== invalidTool;
}

/** Records a call of a tool that does not exist, or whose arguments are not JSON. */
function recordInvalid(calls: AdapterCalls, place: SessionPlace, callId: string, args: unknown): void {
  const { tool, error: text } = (args ?? {}) as { readonly tool?: unknown; readonly error?: unknown };
  if (typeof tool !== 'string' || !calls.covers(tool)) return;
  const isUnknown = /\bunavailable tool\b/.test(String(text));
  const status = isUnknown ? responseStatuses.unknownTool : responseStatuses.invalidArguments;
  const error = Object.assign(new Error('The tool did not run.'), { status });
  // The arguments of the call are not passed on.
  calls.record({ ...place, toolName: tool, callId, arguments: undefined }, { ok: false, error });
}

/** Returns an error with the status that opencode's text for the model implies. */
function failureOf(tool: string, text: string): Error {
  return Object.assign(new Error(text), { status: statusOfText(tool, text) });
}

function statusOfText(tool: string, text: string): number {
  if (text.startsWith(`The ${tool} tool was called with invalid arguments`)) {
    return responseStatuses.invalidArguments;
  }
  const isRefused =
    text.startsWith('The user rejected permission to use this specific tool call') ||
    text.startsWith('The user has specified a rule which prevents you from using this specific tool call');
  if (isRefused) return responseStatuses.denied;
  if (text === 'Tool execution aborted') return responseStatuses.aborted;
  const status = mcpErrorStatus(text) ?? responseStatuses.threw;
  const isOfModel = status === responseStatuses.invalidArguments || status === responseStatuses.unknownTool;
  return isOfModel && !isAbout(tool, text) ? responseStatuses.threw : status;
}

/** Returns `true` for the text of an MCP server about this tool: the tool may have called another server. */
function isAbout(tool: string, text: string): boolean {
  const [, named] =
    /(?:^|: )(?:Tool '?|Unknown tool: |Invalid arguments for tool )([^\s':]+)/.exec(text) ?? [];
  return named !== undefined && tool.endsWith(named);
}

/** Returns the status of a command that failed, which opencode reports as a result; undefined for all other outcomes. */
function toolOutcomeStatus(outcome: ToolOutcome, { toolName }: HookedCall): number | undefined {
  if (!outcome.ok || toolName !== 'bash') return undefined;
  const { metadata } = (outcome.result ?? {}) as { readonly metadata?: { readonly exit?: unknown } };
  const exit = metadata?.exit;
  return exit === undefined || exit === 0 ? undefined : responseStatuses.threw;
}

/** Returns what the model sees of a result: the text, or the content of an MCP server. */
function shownResult(result: unknown): unknown {
  const { output } = (result ?? {}) as { readonly output?: unknown };
  return typeof output === 'string' ? toolContent([{ type: 'text', text: output }]) : toolContent(result);
}

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** A call of opencode. */
interface OpencodeCall {
  readonly sessionID: string;
  readonly callID: string;
}

/** A call that waits for its check, or whose tool runs. */
interface RunningCall {
  readonly sessionID: string;
  readonly controller: AbortController;
  begun?: BegunCall;
}

/** Running calls by their keys, per recorder: a plugin may be loaded twice, for the user and for a project. */
const runningCalls = processWidePerOwner(
  '@actlog/opencode/running-calls',
  () => new Map<string, RunningCall>(),
);

function keyOf({ sessionID, callID }: OpencodeCall): string {
  return JSON.stringify([sessionID, callID]);
}

/** The calls between opencode's hooks before and after a tool. */
class RunningCalls {
  readonly #calls: AdapterCalls;
  readonly #sessions: Sessions;
  readonly #abortSession: (id: string) => void;
  readonly #running: Map<string, RunningCall>;
  /** Denials since the last prompt of each session. */
  readonly #denied = new Map<string, DeniedRun>();

  /** @param abortSession - ends the run of a session whose model repeats a denied call */
  constructor(calls: AdapterCalls, sessions: Sessions, abortSession: (id: string) => void) {
    this.#calls = calls;
    this.#sessions = sessions;
    this.#abortSession = abortSession;
    this.#running = runningCalls(calls.recorder);
  }

  /** Forgets the denials of a session, because the user has written to it. */
  beginPrompt(sessionID: string): void {
    this.#denied.delete(sessionID);
  }

  /**
   * Begins a call. Waits while it is held.
   *
   * @throws ActionDeniedError when the guard denies it, which is the result of the tool for the model
   */
  async begin(call: OpencodeCall & { readonly tool: string }, args: unknown): Promise<void> {
    const key = keyOf(call);
    if (this.#running.has(key)) return;
    const { sessionID, callID: callId, tool: toolName } = call;
    const running: RunningCall = { sessionID, controller: new AbortController() };
    this.#running.set(key, running);
    try {
      const place = await this.#sessions.placeOf(sessionID);
      const { signal } = running.controller;
      const given = { ...place, toolName, callId, arguments: args, signal, acceptsChanges: true };
      running.begun = await this.#calls.begin(given);
      // opencode runs the tool with this object, which a plugin changes in place.
      const { change } = running.begun;
      if (change) Object.assign(args as object, change.arguments);
      this.#denied.get(sessionID)?.letThrough(toolName);
    } catch (error) {
      this.#running.delete(key);
      if (ActionDeniedError.isInstance(error)) this.#deny(sessionID, { toolName, arguments: args }, error);
      throw error;
    }
  }

  /** Ends a call. Only the first end counts. */
  async end(call: OpencodeCall, outcome: ToolOutcome): Promise<void> {
    const key = keyOf(call);
    const begun = this.#running.get(key)?.begun;
    if (!begun) return;
    this.#running.delete(key);
    await begun.end(outcome);
  }

  /** Ends the calls of a session that is aborted, and of the sessions of its subagents. A held one never runs. */
  abort(sessionID: string): void {
    this.#abandon((id) => id === sessionID || this.#sessions.above(id).includes(sessionID));
  }

  /** Ends calls of a session that has ended, without a result. */
  abandon(sessionID: string): void {
    this.#abandon((id) => id === sessionID);
  }

  /** Ends all calls without a result, because opencode ends. */
  abandonAll(): void {
    this.#abandon(() => true);
  }

  #abandon(isOf: (sessionID: string) => boolean): void {
    for (const [key, { sessionID, controller, begun }] of this.#running) {
      if (!isOf(sessionID)) continue;
      const error = abandonedCall('The session was aborted.');
      controller.abort(error);
      if (!begun) continue; // its check rejects
      this.#running.delete(key);
      void begun.end({ ok: false, error });
    }
  }

  /**
   * Counts a denial. If the model repeats itself, the run of the session ends, which is a denial in the session that its
   * subagent works for.
   *
   * @throws the reason, for the user who reads the last result
   */
  #deny(
    sessionID: string,
    call: { readonly toolName: string; readonly arguments: unknown },
    denial: ActionDeniedError,
  ): void {
    let reason: string | undefined;
    for (const id of [sessionID, ...this.#sessions.above(sessionID)]) {
      const run = this.#denied.get(id) ?? new DeniedRun();
      this.#denied.set(id, run);
      if (!run.deny(call, denial)) break;
      reason ??= run.reason;
      this.#abortSession(id);
    }
    if (reason !== undefined) throw new Error(reason, { cause: denial });
  }
}

/** Longest chain of sessions that is followed to its root. */
const maxDepth = 16;

/** Place of a session of opencode. */
interface SessionPlace {
  /** Session of the chat: the root of the sessions of its subagents. */
  readonly sessionId: string;
  /** Name of the subagent that the session belongs to; undefined for the chat itself. */
  readonly subagent: string | undefined;
}

/** Sessions of opencode. Each subagent has one, whose parent is the session that started it. */
class Sessions {
  readonly #client: Pick<PluginInput['client'], 'session'>;
  /** Parents of sessions; `undefined` for a root. */
  readonly #parents = new Map<string, string | undefined>();
  readonly #agents = new Map<string, string>();

  constructor(client: Pick<PluginInput['client'], 'session'>) {
    this.#client = client;
  }

  /** Remembers a session as opencode reports it. */
  note({ id, parentID }: { readonly id: string; readonly parentID?: string | undefined }): void {
    this.#parents.set(id, parentID);
  }

  /** Remembers the agent that a message of a session is for. */
  rememberAgent(id: string, agent: string): void {
    this.#agents.set(id, agent);
  }

  /** Forgets a session that was deleted. */
  forget(id: string): void {
    this.#parents.delete(id);
    this.#agents.delete(id);
  }

  /** Returns the sessions around a session, nearest first, as far as they are known. */
  above(id: string): string[] {
    const found: string[] = [];
    let parent = this.#parents.get(id);
    while (parent !== undefined && found.length < maxDepth) {
      found.push(parent);
      parent = this.#parents.get(parent);
    }
    return found;
  }

  /** Returns the chat and the subagent of a session. */
  async placeOf(id: string): Promise<SessionPlace> {
    let root = id;
    for (let depth = 0; depth < maxDepth; depth += 1) {
      const parent = await this.#parentOf(root);
      if (parent === undefined) break;
      root = parent;
    }
    return { sessionId: root, subagent: root === id ? undefined : (this.#agents.get(id) ?? 'subagent') };
  }

  async #parentOf(id: string): Promise<string | undefined> {
    if (this.#parents.has(id)) return this.#parents.get(id);
    try {
      const { data } = await this.#client.session.get({ path: { id } });
      if (data) this.note(data);
      return data?.parentID;
    } catch {
      return undefined; // opencode does not know it: it counts as a chat
    }
  }
}
