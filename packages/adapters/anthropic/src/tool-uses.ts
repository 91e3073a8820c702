import { setImmediate } from 'node:timers';
import { processWide } from '@actlog/recorder/adapter';

/** A call known by its `tool_use` id. */
export interface ToolUse {
  readonly toolName: string;
  /** Input from the model; undefined during its stream, and after its result was sent. */
  readonly input: unknown;
  readonly sessionId: string | undefined;
}

/** An input rejected by a tool, whose call is not known yet. */
export interface RefusedInput {
  readonly toolName: string;
  readonly input: unknown;
  readonly recorder: object;
  readonly error: unknown;
}

/** Maximum number of calls to remember, of one response and without a result. */
const maxUses = 10_000;

/** Calls found in messages, so that the first hook to see one records it, once and in its session. */
class ToolUses {
  readonly #uses = new Map<string, ToolUse>();
  readonly #recorded = new Map<string, WeakSet<object>>();
  readonly #refused = new Set<RefusedInput>();
  #streams = 0;

  /** `true` while a message is streaming. Its reader may see a call slightly earlier than it is known here. */
  get areStreaming(): boolean {
    return this.#streams > 0;
  }

  /** Counts a message that starts to stream, until the returned function is called. */
  beginStream(): () => void {
    this.#streams += 1;
    return () => {
      this.#streams -= 1;
    };
  }

  /**
   * Waits until the calls that readers of streams have seen are known here: `runToolsEagerly` runs a tool as soon as
   * its call is read, slightly before the middleware sees it.
   */
  async caughtUp(): Promise<void> {
    if (this.areStreaming) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Stores a rejected input until its call is known. */
  refuse(refused: RefusedInput): void {
    this.#refused.add(refused);
  }

  /** Stops waiting for the call of an input. Returns `false` if the call has become known and taken it. */
  forget(refused: RefusedInput): boolean {
    return this.#refused.delete(refused);
  }

  /** Returns and removes the rejected input of a call. */
  takeRefused({ toolName, input }: ToolUse, recorder: object): RefusedInput | undefined {
    const text = JSON.stringify(input);
    for (const refused of this.#refused) {
      const fits = refused.toolName === toolName && refused.recorder === recorder;
      if (!fits || JSON.stringify(refused.input) !== text) continue;
      this.#refused.delete(refused);
      return refused;
    }
    return undefined;
  }

  find(id: string): ToolUse | undefined {
    return this.#uses.get(id);
  }

  /** Stores a call of a new message. */
  add(id: string, use: ToolUse): void {
    put(this.#uses, id, use);
  }

  /** Forgets the recorders of an id that a new message uses; some services reuse ids. */
  renew(id: string | undefined): void {
    if (id !== undefined) this.#recorded.delete(id);
  }

  /** Returns `true` if the call has been recorded. */
  isRecorded(id: string): boolean {
    return this.#recorded.has(id);
  }

  /** Claims a call for a recorder. Returns `true` for its first claim. */
  claim(id: string, recorder: object): boolean {
    const recorders = this.#recorded.get(id) ?? new WeakSet();
    if (recorders.has(recorder)) return false;
    put(this.#recorded, id, recorders.add(recorder));
    return true;
  }

  /** Claims the newest unrecorded call with this input, for hooks without call ids. */
  claimInput(
    toolName: string,
    input: unknown,
    recorder: object,
  ): (ToolUse & { readonly id: string }) | undefined {
    const text = JSON.stringify(input);
    for (const [id, use] of [...this.#uses].reverse()) {
      const fits = use.toolName === toolName && JSON.stringify(use.input) === text;
      if (fits && this.claim(id, recorder)) return { ...use, id };
    }
    return undefined;
  }
}

function put<Value>(map: Map<string, Value>, id: string, value: Value): void {
  map.delete(id);
  map.set(id, value);
  if (map.size > maxUses) map.delete(map.keys().next().value as string);
}

/** Calls of this process. */
export const toolUses: () => ToolUses = processWide('@actlog/anthropic/tool-uses', () => new ToolUses());
