import { unwatchFile, watchFile } from 'node:fs';
import type { DefinitionApprovals } from './definition-approvals.ts';
import type { DeniedTools } from './denied-tools.ts';
import { accepted, type Change, type PinFile, PinFileError, type Pins } from './pin-file.ts';
import {
  definitionDifference,
  isSameDefinition,
  suspicion,
  type ToolCaller,
  type ToolDefinition,
  toolDefinition,
  visible,
} from './tool-definition.ts';

/** Decision about a tool whose definition is new or has changed. */
export type ChangedToolDecision = 'hold' | 'deny' | 'allow';

/** Definitions that a server shows to the model: of its tools, its prompts, or its instructions as one text. */
export type DefinitionKind = 'tool' | 'prompt' | 'text';

/** Options of {@link ServerTools}. */
export interface ServerToolsOptions {
  /** File with the pinned definitions. */
  readonly pins: PinFile;
  /**
   * `hold` keeps calls of a new or changed tool until its definition is accepted, and the client sees the earlier
   * definition, or no new tool. `deny` denies them, and the client does not see the tool. `allow` only reports.
   */
  readonly onChangedTool: ChangedToolDecision;
  /** Definitions that are pinned. Default: `tool`. */
  readonly kind?: DefinitionKind | undefined;
  /** Receives each change as lines for the operator. */
  report(text: string): void;
  /** Asks the approvers of the service. Default: only `actlog gateway pins accept` accepts. */
  readonly approvals?: DefinitionApprovals | undefined;
  /** Tools that policies always deny, which the client does not see. Default: none. */
  readonly denied?: DeniedTools | undefined;
}

/** Part of a list of tools, from one response. */
export interface ToolPage {
  readonly tools: readonly unknown[];
  /** `true` if the list begins here. */
  readonly isFirst: boolean;
  /** `true` if it ends here. */
  readonly isLast: boolean;
}

/** View of one listed tool for the client: as it is, without it, or its pinned definition. */
export type ToolView = 'as listed' | 'hidden' | ToolDefinition;

/** Error thrown when a call does not run because the definition of its tool is not accepted. */
export class ToolChangedError extends Error {
  override readonly name = 'ToolChangedError';
}

/** Maximum number of pinned tools. A server with more has its further tools treated as new. */
const maxTools = 10_000;

/** Interval at which the file is looked at while a change waits to be accepted, in milliseconds. */
const watchMs = 500;

/** Tools of one server, over all sessions: pins their definitions, and decides which of them a client sees and may call. */
export class ServerTools {
  readonly denied: DeniedTools | undefined;
  /** Prompts of the server, pinned in the same way; undefined for other definitions than tools. */
  readonly prompts: ServerTools | undefined;
  /** Instructions of the server for the model, pinned in the same way. */
  readonly instructions: ServerTools | undefined;
  readonly #options: ServerToolsOptions;
  readonly #kind: DefinitionKind;
  #pins: Pins;
  /** `false` once the file could not be read or written. */
  #canWrite = true;
  /** `true` while the first list is pinned without questions. */
  #isFirstUse: boolean;
  /** `true` if the last list is still what the server has. */
  #isFresh = false;
  /** Names of the list that is being read. */
  #listed = new Map<string, ToolDefinition>();
  readonly #reported = new Map<string, ToolDefinition>();
  readonly #asked = new Map<string, { readonly definition: ToolDefinition; isDenied: boolean }>();
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #isWatching = false;

  /** @throws PinFileError when the file is damaged, unless changed tools are allowed */
  constructor(options: ServerToolsOptions) {
    this.#options = options;
    this.#kind = options.kind ?? 'tool';
    if (this.#kind === 'tool') {
      const pinned = (kind: DefinitionKind, name: string) =>
        new ServerTools({ ...options, kind, pins: options.pins.beside(name), denied: undefined });
      this.prompts = pinned('prompt', 'prompts');
      this.instructions = pinned('text', 'instructions');
    }
    this.denied = options.denied;
    this.#pins = this.#read();
    this.#isFirstUse = !this.#pins.isComplete && this.#pins.tools.length === 0;
  }

  #read(): Pins {
    const { pins, onChangedTool, report } = this.#options;
    try {
      return pins.read();
    } catch (error) {
      if (onChangedTool !== 'allow' || !(error instanceof PinFileError)) throw error;
      report(`${error.message} Nothing is pinned until then.\n`);
      this.#canWrite = false;
      return { server: { label: pins.path, id: '' }, isComplete: false, tools: [], changes: [] };
    }
  }

  /** `true` if a call may have to wait for the acceptance of its tool. */
  get isHolding(): boolean {
    return this.#options.onChangedTool !== 'allow';
  }

  /** `true` if the gateway has to list the tools itself before it decides about a call. */
  get isStale(): boolean {
    return this.isHolding && !this.#isFresh && this.#pins.tools.length > 0;
  }

  /** Records that the server announced another list. */
  serverChanged(): void {
    this.#isFresh = false;
  }

  /** Calls a function whenever a client should list the tools again, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends what waits. */
  close(): void {
    this.#closed.abort();
    this.denied?.close();
    this.prompts?.close();
    this.instructions?.close();
    if (this.#isWatching) unwatchFile(this.#options.pins.path, this.#look);
  }

  /** Ends the attempt to list the tools: the server has no list, or does not respond. */
  notListed(): void {
    this.#isFresh = true;
  }

  /** Takes a part of the server's list, and returns the client's view of each tool. */
  take({ tools, isFirst, isLast }: ToolPage, caller: ToolCaller): readonly ToolView[] {
    if (isFirst) this.#listed = new Map();
    const before = this.#pins;
    const views = tools.map((listed) => this.#takeTool(listed));
    if (isLast) {
      this.#isFresh = true;
      this.#isFirstUse = false;
      if (!this.#pins.isComplete) this.#pins = { ...this.#pins, isComplete: true };
    }
    if (this.#pins !== before) this.#write();
    for (const change of this.#pins.changes) this.#report(change, caller);
    if (this.#pins.changes.length > 0) this.#watch();
    return views;
  }

  /** Returns `undefined` if a tool may be called, otherwise when it may be called, or rejects with the reason why not. */
  admit(
    name: string,
    caller: ToolCaller,
    { holdMs, signal }: { readonly holdMs: number; readonly signal: AbortSignal },
  ): Promise<void> | undefined {
    const problem = this.#problemOf(name);
    if (problem === undefined) return undefined;
    const { onChangedTool } = this.#options;
    if (onChangedTool === 'deny' || problem === unlisted('tool')) {
      return Promise.reject(new ToolChangedError(refusal(notRun(name, false), problem)));
    }
    for (const change of this.#pins.changes) {
      if (change.definition.name === name) this.#ask(change, caller);
    }
    return this.#whenAccepted(name, holdMs, signal);
  }

  /** Returns the reason why a client does not get a prompt; undefined if it does. */
  refusalOf(name: string): string | undefined {
    const problem = this.#problemOf(name);
    return problem && refusal(`The prompt ${JSON.stringify(visible(name))} was not passed on`, problem);
  }

  #problemOf(name: string): string | undefined {
    if (!this.isHolding) return undefined;
    const change = this.#changeOf(name);
    if (change) {
      const isKnown = this.#pinOf(name) !== undefined;
      const because = change.problem === undefined ? '' : ` (${change.problem})`;
      return `${isKnown ? `the server changed the definition of this ${this.#kind}` : `the server did not have this ${this.#kind} before`}${because}`;
    }
    const hasList = this.#pins.tools.length > 0;
    return hasList && !this.#pinOf(name) ? unlisted(this.#kind) : undefined;
  }

  async #whenAccepted(name: string, holdMs: number, signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<'changed' | 'timeout'>();
    const timer = setTimeout(() => ended.resolve('timeout'), holdMs);
    const abort = () => ended.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const stop = this.onChange(() => {
      if (this.#problemOf(name) === undefined || this.#isDenied(name)) ended.resolve('changed');
    });
    try {
      if (!this.#isDenied(name)) await ended.promise;
      const problem = this.#problemOf(name);
      if (problem === undefined) return;
      const isDenied = this.#isDenied(name);
      const what = isDenied ? `${problem}, and an approver did not accept it` : problem;
      throw new ToolChangedError(refusal(notRun(name, !isDenied), what, !isDenied));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      stop();
    }
  }

  #takeTool(listed: unknown): ToolView {
    const definition = toolDefinition(listed);
    if (!definition) return 'as listed';
    const { name } = definition;
    const twin = this.#listed.get(name);
    this.#listed.set(name, definition);
    const pin = this.#pinOf(name);
    const isTwin = twin !== undefined && !isSameDefinition(twin, definition);
    if (pin && !isTwin && isSameDefinition(pin.definition, definition)) {
      this.#setChange(name, undefined);
      return 'as listed';
    }
    const others = this.#pins.tools.map((one) => one.definition.name);
    const problem = isTwin ? 'it is listed twice, with two definitions' : suspicion(definition, others);
    if (this.#isFirstUse && !pin && problem === undefined && this.#pins.tools.length < maxTools) {
      const added = { definition, since: new Date().toISOString(), by: 'first use' };
      this.#pins = { ...this.#pins, tools: [...this.#pins.tools, added] };
      return 'as listed';
    }
    this.#setChange(name, { definition, seen: new Date().toISOString(), ...(problem && { problem }) });
    if (!this.isHolding) return 'as listed';
    return pin && !isTwin && this.#options.onChangedTool === 'hold' ? pin.definition : 'hidden';
  }

  #pinOf(name: string) {
    return this.#pins.tools.find(({ definition }) => definition.name === name);
  }

  #changeOf(name: string) {
    return this.#pins.changes.find(({ definition }) => definition.name === name);
  }

  #setChange(name: string, change: Change | undefined): void {
    const known = this.#changeOf(name);
    if (!known && !change) return;
    if (known && change && isSameDefinition(known.definition, change.definition)) return;
    const others = this.#pins.changes.filter((one) => one !== known).slice(0, maxTools);
    this.#pins = { ...this.#pins, changes: change ? [...others, change] : others };
  }

  /** Writes what this gateway saw, without undoing what others accepted meanwhile. */
  #write(): void {
    const own = this.#pins;
    if (!this.#canWrite) return;
    try {
      this.#pins = this.#options.pins.update((stored) => merged(stored, own));
    } catch (error) {
      this.#canWrite = false;
      const { code = 'invalid' } = error as NodeJS.ErrnoException;
      this.#options.report(
        `The pins of tool definitions cannot be written to ${this.#options.pins.path} (${code}): they are kept until the gateway ends. Make it writable, or name another file with --pin.\n`,
      );
    }
  }

  #report(change: Change, caller: ToolCaller): void {
    const { definition, problem } = change;
    const { name } = definition;
    const last = this.#reported.get(name);
    if (!last || !isSameDefinition(last, definition)) {
      this.#reported.set(name, definition);
      const { pins, onChangedTool } = this.#options;
      const because = problem === undefined ? '' : ` (${problem})`;
      const what = this.#pinOf(name) ? 'has another definition' : 'is new';
      const difference = this.#differenceOf(change).replaceAll(/^/gm, '    ');
      this.#options.report(
        `The ${this.#kind} ${JSON.stringify(visible(name))} of ${this.#pins.server.label} ${what}${because}; ${effects[this.#kind === 'tool' ? 'calls' : 'texts'][onChangedTool]}:\n${difference}\n` +
          `  To accept it: actlog gateway pins accept ${pins.path} ${JSON.stringify(visible(name))}\n`,
      );
    }
    if (this.#options.onChangedTool === 'hold') this.#ask(change, caller);
  }

  #differenceOf({ definition }: Change): string {
    return definitionDifference(this.#pinOf(definition.name)?.definition, definition);
  }

  #isDenied(name: string): boolean {
    const change = this.#changeOf(name);
    const asked = this.#asked.get(name);
    return (
      asked !== undefined &&
      change !== undefined &&
      asked.isDenied &&
      isSameDefinition(asked.definition, change.definition)
    );
  }

  /** Asks the approvers of the service about a change, once in the life of the gateway. */
  #ask(change: Change, caller: ToolCaller): void {
    const { approvals } = this.#options;
    const { definition, problem } = change;
    const { name } = definition;
    const before = this.#asked.get(name);
    if (!approvals || caller.agentId === undefined) return;
    if (before && isSameDefinition(before.definition, definition)) return;
    const asked = { definition, isDenied: false };
    this.#asked.set(name, asked);
    const question = {
      tool: name,
      server: this.#pins.server.label,
      difference: this.#differenceOf(change),
      problem,
    };
    void approvals.decide(question, caller, this.#closed.signal).then((result) => {
      if (result.decision === 'none') {
        this.#asked.delete(name);
        return;
      }
      const current = this.#changeOf(name);
      if (!current || !isSameDefinition(current.definition, definition)) return;
      if (result.decision === 'accept') {
        this.#pins = accepted(this.#pins, new Set([name]), result.by);
        this.#write();
      } else asked.isDenied = true;
      this.#notify();
    });
  }

  #watch(): void {
    if (this.#isWatching || this.#closed.signal.aborted) return;
    this.#isWatching = true;
    watchFile(this.#options.pins.path, { interval: watchMs, persistent: false }, this.#look);
  }

  readonly #look = (): void => {
    let stored: Pins;
    try {
      stored = this.#options.pins.read();
    } catch {
      return; // it is being written, or damaged: what is known stays
    }
    const before = this.#pins;
    this.#pins = merged(stored, before);
    if (before.changes.length !== this.#pins.changes.length) this.#notify();
  };

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Effects of a change, in words for the operator. */
const effects = {
  calls: { hold: 'its calls are held', deny: 'its calls are denied', allow: 'its calls are allowed' },
  texts: {
    hold: 'the client gets the earlier one, if there is one',
    deny: 'the client does not get it',
    allow: 'the client gets it',
  },
};

function unlisted(kind: DefinitionKind): string {
  return `the server does not list this ${kind}`;
}

function notRun(name: string, mayRun: boolean): string {
  return `The call of the tool ${JSON.stringify(visible(name))} was not run${mayRun ? ' yet' : ''}`;
}

function refusal(what: string, problem: string, mayRun = false): string {
  const next = problem.startsWith('the server does not list')
    ? ''
    : ' Tell the user: "actlog gateway pins" shows the definition, and "actlog gateway pins accept" accepts it.';
  return `${what}: ${problem}.${next}${mayRun ? ' Then call the tool again.' : ''}`;
}

/** Returns the stored pins with what a gateway saw: its first pins, and its changes that nobody has accepted. */
function merged(stored: Pins, own: Pins): Pins {
  const names = new Set(stored.tools.map(({ definition }) => definition.name));
  const newer = own.tools.filter(({ definition, since }) => {
    const known = stored.tools.find((one) => one.definition.name === definition.name);
    return known === undefined || known.since < since;
  });
  const newNames = new Set(newer.map(({ definition }) => definition.name));
  const tools = [...stored.tools.filter(({ definition }) => !newNames.has(definition.name)), ...newer];
  const changes = own.changes.filter(({ definition }) => {
    if (!names.has(definition.name) && !newNames.has(definition.name)) return true;
    const pin = tools.find((one) => one.definition.name === definition.name);
    return pin === undefined || !isSameDefinition(pin.definition, definition);
  });
  return { ...stored, isComplete: stored.isComplete || own.isComplete, tools, changes };
}
